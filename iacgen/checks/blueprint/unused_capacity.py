"""A reservation for the machines of Slurm's controllers.

Why: head nodes are bought on demand, whatever their pool says: they must outlive every reservation. The reserved machines stay empty
and are paid for.

Bad::

    nodes:
      head: {site: ohio, system: m7i.4xlarge, count: 1, capacity: {kind: capacity-reservation, id: cr-0a1b2c3d4e5f67890}}
    scheduler: {kind: slurm, version: "24.11", controllers: head}

Good: leave ``capacity`` out.

Source: Amazon EC2 user guide: instances of a capacity block end with the block; terraform-aws-ec2-instance#404.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..rule import Found, rule


@rule("IAC253", "unused-capacity", "warning")
def check(blueprint: Blueprint) -> Iterator[Found]:
    if blueprint.scheduler:
        name = blueprint.scheduler.controllers
        capacity = blueprint.nodes[name].capacity
        if capacity and capacity.kind in ("capacity-reservation", "capacity-block"):
            yield Found(f"the controllers of {name} are bought on demand and take nothing from it", ("nodes", name, "capacity"), (Related(("scheduler", "controllers"), "the pool of slurmctld"),), on_key=True)
