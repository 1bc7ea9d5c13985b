"""A limit of memory that keeps whole nodes from jobs.

Why: training takes whole nodes, and asks for all their memory. Where MaxMemPerNode is less than that, the job is refused: "Memory
required by task is not available". A mistake of one digit does it, since the value is in MiB.

Bad::

    scheduler: {kind: slurm, version: "24.11", controllers: ctl, parameters: {MaxMemPerNode: ["200000"]}}

Good: leave it out: a job cannot have more than its nodes have.

Source: aws-parallelcluster's bounds of schedulable memory; slurmctld 22.05.8 and 24.11.5 refuse such a job (measured).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...diagnostics import Related
from ..duties import queued
from ..rule import Found, rule
from ..subject import Subject

SCHEDULABLE = 0.95  # of a node's memory; the rest is the operating system's, as slurm.conf says


@rule("IAC559", "limit-below-node")
def check(subject: Subject) -> Iterator[Found]:
    scheduler = subject.blueprint.scheduler
    value = scheduler.parameters.get("MaxMemPerNode", ("0",))[0] if scheduler else "0"
    limit = int(value) if value.isdecimal() else 0
    for name in sorted(queued(subject.blueprint)) if limit else ():  # 0 is no limit
        has = int(subject.design.pools[name].system.memory_mib * SCHEDULABLE)
        if limit < has:
            yield Found(f"a whole node of {name} has {has:,} MiB, and no job may have more than {limit:,}", ("scheduler", "parameters", "MaxMemPerNode", 0), (Related(("nodes", name, "system"), "what a node is"),))
            break
