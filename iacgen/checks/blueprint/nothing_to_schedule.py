"""A scheduler without a node to give out.

Why: without partitions of your own, one named ``train`` is made of all pools with GPUs. Where no pool has any, it would be empty,
and slurmctld refuses an empty partition. Where a job names such nodes, nodes-without-gpus is said of the job instead.

Bad: a scheduler over pools of CPU servers alone, without ``partitions``.

Good::

    scheduler:
      partitions: {cpu: {nodes: [worker]}}

Source: cluster-toolkit PR#4883, pools that can never have a node.
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import catalog
from ...blueprint import Blueprint
from ..rule import Found, rule


@rule("IAC223", "nothing-to-schedule")
def check(blueprint: Blueprint) -> Iterator[Found]:
    scheduler = blueprint.scheduler
    if scheduler and scheduler.partitions is None and not blueprint.training and not any(catalog.system(p.system).gpus for p in blueprint.nodes.values()):
        yield Found("no pool has GPUs; name the partitions and their pools", ("scheduler",), on_key=True)
