"""Blocks over hosts that no NVLink domain joins.

Why: a block of topology/block is an NVLink domain, and Slurm gives a host that lies in no block no job, though it starts with nothing
but a warning. NVLink of a DGX H100 ends at its own eight GPUs: such hosts have no domain, and blocks of them would say nothing.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 32}
    scheduler: {kind: slurm, version: "24.11", controllers: ctl, topology: block}

Good: leave ``topology`` out, or queue the pools of NVL72 racks alone.

Source: topology.conf(5); slurmctld 24.11.5 says "blocks lack access to 4 nodes", and srun on one of them that the "requested topology
configuration is not available".
"""

from __future__ import annotations

from collections.abc import Iterator

from ...diagnostics import Related
from ..duties import queued
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC664", "blocks-without-domains")
def check(subject: Subject) -> Iterator[Found]:
    scheduler = subject.blueprint.scheduler
    if not scheduler or scheduler.topology != "block":
        return
    alone = [name for name in sorted(queued(subject.blueprint)) if subject.design.pools[name].system.nvlink_domain_servers < 2]
    if alone:
        message = f"no NVLink joins the hosts of {', '.join(alone)}, so they lie in no block, and Slurm gives them no job"
        yield Found(message, ("scheduler", "topology"), tuple(Related(("nodes", name), "a pool that is queued") for name in alone), help="write topology: tree")
