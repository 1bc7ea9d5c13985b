"""One controller for a large cluster.

Why: while it is down no job starts, and none that ends is noticed. The more nodes wait, the more that costs; a second host that shares
the state takes over within two minutes.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 127}
      ctl: {site: hall, system: generic-1u, count: 1}

Good: ``count: 2`` for ctl.

Source: aws-parallelcluster#1447, the head node as a single point of failure; slurm.conf(5), SlurmctldHost.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..duties import queued
from ..rule import Found, rule

MANY = 64  # nodes; a judgement, no published limit


@rule("IAC256", "single-controller", "warning", lab=None)
def check(blueprint: Blueprint) -> Iterator[Found]:
    if blueprint.scheduler:
        name = blueprint.scheduler.controllers
        nodes = sum(blueprint.nodes[pool].count for pool in queued(blueprint))
        if blueprint.nodes[name].count == 1 and nodes > MANY:
            yield Found(f"{nodes} nodes wait for one controller when it is down", ("nodes", name, "count"))
