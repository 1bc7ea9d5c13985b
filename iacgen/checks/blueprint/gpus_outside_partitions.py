"""GPUs that no partition gives out.

Why: once partitions are named, only the pools that stand in one are given out. A pool that was added later and forgotten there draws
power and runs nothing.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 32}
      gpu-b: {site: hall, system: dgx-h100, count: 32}
    scheduler:
      partitions: {train: {nodes: [gpu]}}

Good: ``train: {nodes: [gpu, gpu-b]}``.

Source: magic_castle#58, slurm.conf and the machines drift apart when two places list them.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..duties import has_gpus, lustre_servers, queued
from ..rule import Found, rule


@rule("IAC260", "gpus-outside-partitions", "warning")
def check(blueprint: Blueprint) -> Iterator[Found]:
    if not blueprint.scheduler:
        return
    known = queued(blueprint) | lustre_servers(blueprint) | {job.nodes for job in blueprint.training.values()} | {blueprint.scheduler.controllers}
    for name in blueprint.nodes:
        if name not in known and has_gpus(blueprint, name):
            yield Found(f"no partition gives out the GPUs of {name}", ("nodes", name), on_key=True)
