"""A partition called ``default``.

Why: Slurm reads a line ``PartitionName=DEFAULT`` as the defaults of the partitions that follow, whatever the case. The cluster is
built, and slurmctld never starts.

Bad::

    scheduler:
      partitions: {default: {nodes: [gpu]}}

Good::

    scheduler:
      partitions: {train: {nodes: [gpu], default: true}}

Source: batch-shipyard#333; slurmctld 22.05.8 (measured).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..rule import Found, rule


@rule("IAC221", "reserved-partition-name")
def check(blueprint: Blueprint) -> Iterator[Found]:
    partitions = (blueprint.scheduler and blueprint.scheduler.partitions) or {}
    if "default" in partitions:
        yield Found("'default' is a word of Slurm and cannot name a partition", ("scheduler", "partitions", "default"), on_key=True)
