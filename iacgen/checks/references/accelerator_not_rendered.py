"""Accelerators whose jobs are planned, and for whose hosts no files are written.

Why: drivers, device files, the scheduler's resources, the communication library and the launch scripts are NVIDIA's in everything that
is generated. For a TPU or a GPU of AMD the same files would be accepted by their readers and be wrong: the first is joined by its own
torus and programmed through XLA, the second needs ROCm, RCCL and Slurm's RSMI. Whether a job fits and how long it takes follows from
data sheets and is told; the tree holds the report, the halls and their drawings, and neither Slurm, Ansible, NCCL nor launch files.

Bad::

    nodes:
      tpu: {site: hall, system: ct5p-hightpu-4t, count: 16}

Good: ``system: dgx-h100``; or allow this finding where the plan is all that is wanted.

Source: Google Cloud TPU documentation, TPU v5p; ROCm documentation, system requirements; RCCL documentation, environment variables.
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import catalog
from ...blueprint import Blueprint
from ..rule import Found, rule

NVIDIA = "NVIDIA"


@rule("IAC273", "accelerator-not-rendered", "warning")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, pool in blueprint.nodes.items():
        if pool.system not in catalog.ids("systems"):
            continue
        system = catalog.system(pool.system)
        chip = catalog.tpu(system.tpu) if system.tpu else catalog.gpu(system.gpu) if system.gpu else None
        if chip and chip.vendor != NVIDIA:
            missing = "for Slurm, for JAX or PyTorch/XLA" if system.tpu else "for ROCm and RCCL, for Slurm with AutoDetect=rsmi"
            yield Found(
                f"jobs on {chip.name} are planned in report.md alone: files for hosts, {missing}, and to launch jobs are not written", ("nodes", name, "system"),
                help=f"take a machine with GPUs of {NVIDIA}, or write these files yourself",
            )  # fmt: skip
