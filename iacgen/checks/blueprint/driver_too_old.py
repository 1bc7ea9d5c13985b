"""A driver branch that does not know the GPU.

Why: the driver installs without a word and finds no device. Every node then fails its check, or, worse, comes up without GPUs.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-b200, count: 8}
    software: {driver: "550"}

Good: ``driver: "580"``, the default.

Source: NVIDIA/cloud-native-docs PR#184, HGX B200 needs 570.133; NVIDIA's CUDA Toolkit, Driver and Architecture Matrix.
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import catalog
from ...blueprint import Blueprint
from ...diagnostics import Related
from ..duties import aws_sites
from ..rule import Found, rule


@rule("IAC280", "driver-too-old")
def check(blueprint: Blueprint) -> Iterator[Found]:
    branch, clouds = int(blueprint.software.driver.split(".")[0]), aws_sites(blueprint)
    needs = {}
    for name, pool in blueprint.nodes.items():
        system = catalog.system(pool.system)
        if system.gpu and pool.site not in clouds:  # in the cloud the image brings the driver
            gpu = catalog.gpu(system.gpu)
            if gpu.driver_branch and gpu.driver_branch > branch:
                needs.setdefault(gpu.id, (gpu, name))
    for gpu, name in needs.values():
        related = (Related(("nodes", name, "system"), f"has {gpu.name}"),)
        yield Found(f"{gpu.name} needs driver branch {gpu.driver_branch} or later", ("software", "driver"), related)
