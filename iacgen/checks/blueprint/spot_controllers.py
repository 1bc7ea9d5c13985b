"""Slurm's controllers on spot capacity.

Why: a spot machine is taken back with two minutes of notice. With the controller go the queue and every job in it, and the nodes
stand idle until somebody comes.

Bad::

    nodes:
      head: {site: ohio, system: m7i.4xlarge, count: 1, capacity: {kind: spot}}
    scheduler: {kind: slurm, version: "24.11", controllers: head}

Good: leave ``capacity`` out; the head node is then bought on demand.

Source: skypilot#1774, what a preempted head node leaves behind; aws-parallelcluster offers spot to queues alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..rule import Found, rule


@rule("IAC249", "spot-controllers")
def check(blueprint: Blueprint) -> Iterator[Found]:
    if blueprint.scheduler:
        name = blueprint.scheduler.controllers
        capacity = blueprint.nodes[name].capacity
        if capacity and capacity.kind == "spot":
            yield Found(f"slurmctld runs on {name}, and spot machines are taken back", ("nodes", name, "capacity", "kind"), (Related(("scheduler", "controllers"), "the pool of slurmctld"),))
