"""Accelerators for which no files are written.

Why: drivers, device files, the scheduler's resources, the communication library and the launch scripts are NVIDIA's in everything that
is generated. For a TPU or a GPU of AMD the same files would be accepted by their readers and be wrong: the first is joined by its own
torus and programmed through XLA, the second needs ROCm and RCCL.

Bad::

    nodes:
      tpu: {site: hall, system: ct5p-hightpu-4t, count: 16}

Good: ``system: dgx-h100``. The catalog knows the other chips so that they can be compared: ``iacgen catalog tpu-v5p``.

Source: Google Cloud TPU documentation, TPU v5p; ROCm documentation, system requirements.
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import catalog
from ...blueprint import Blueprint
from ..rule import Found, rule

NVIDIA = "NVIDIA"


@rule("IAC273", "accelerator-not-rendered")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, pool in blueprint.nodes.items():
        if pool.system not in catalog.ids("systems"):
            continue
        system = catalog.system(pool.system)
        chip = catalog.tpu(system.tpu) if system.tpu else catalog.gpu(system.gpu) if system.gpu else None
        if chip and chip.vendor != NVIDIA:
            what = "TPU pods are planned and joined by Google" if system.tpu else f"drivers, NCCL and launch files are written for {NVIDIA} alone"
            yield Found(f"no files are written for machines with {chip.name}: {what}", ("nodes", name, "system"), help="take a machine with GPUs of NVIDIA")
