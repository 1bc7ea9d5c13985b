"""An NVLink domain with fewer hosts than the others, where Slurm hands hosts out in blocks.

Why: up to 24.11 no block may be smaller than the first of BlockSizes, so that one becomes the size of the smallest domain. Jobs are then
packed in blocks of that size: the last rack, of which one host is used, takes away what ``topology: block`` was chosen for.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-gb200, count: 37}
    scheduler: {kind: slurm, version: "24.11", controllers: ctl, topology: block}

Good: ``count: 36``, two whole racks of 18, or ``topology: tree``, for which sizes do not matter.

Source: Slurm's release notes of 25.05 (smaller blocks allowed); slurmctld 24.11.5 ends with "children count lower than bblock_node_cnt".
"""

from __future__ import annotations

from collections.abc import Iterator

from ..duties import queued
from ..rule import Found, rule
from ..slurm_keys import version_of
from ..subject import Subject

ALLOWED_SINCE = (25, 5)


@rule("IAC666", "uneven-blocks", "warning", lab="info")
def check(subject: Subject) -> Iterator[Found]:
    scheduler = subject.blueprint.scheduler
    if not scheduler or scheduler.topology != "block" or version_of(scheduler.version) >= ALLOWED_SINCE:
        return
    pools = [subject.design.pools[name] for name in sorted(queued(subject.blueprint))]
    smallest = {pool.name: pool.count % pool.system.nvlink_domain_servers or min(pool.count, pool.system.nvlink_domain_servers) for pool in pools}
    largest = max(min(pool.count, pool.system.nvlink_domain_servers) for pool in pools)
    name, least = min(smallest.items(), key=lambda item: (item[1], item[0]))
    if 1 < largest and least < largest and all(pool.system.nvlink_domain_servers > 1 for pool in pools):
        message = f"an NVLink domain of pool {name} has {least} host{'s' * (least != 1)} where others have {largest}, and Slurm {scheduler.version} hands all of them out in blocks of {least}"
        help = f"use whole domains of {subject.design.pools[name].system.nvlink_domain_servers} hosts, or write topology: tree"
        yield Found(message, ("nodes", name, "count"), help=help)
