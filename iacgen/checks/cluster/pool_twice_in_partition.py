"""A pool twice in one partition.

Why: Slurm takes each node once, so the second mention does nothing. Mostly another pool was meant.

Bad::

    scheduler:
      partitions: {train: {nodes: [hopper, hopper]}}

Good: ``nodes: [hopper, ampere]``, or once.

Source: slurm.conf(5), Nodes of a partition.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...diagnostics import Related
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC507", "pool-twice-in-partition", "warning")
def check(subject: Subject) -> Iterator[Found]:
    scheduler = subject.blueprint.scheduler
    for name, partition in (scheduler.partitions or {} if scheduler else {}).items():
        for i, pool in enumerate(partition.nodes):
            if pool in partition.nodes[:i]:
                yield Found(f"{pool} is in {name} already", ("scheduler", "partitions", name, "nodes", i), (Related(("scheduler", "partitions", name, "nodes", partition.nodes.index(pool)), "the first time"),))
