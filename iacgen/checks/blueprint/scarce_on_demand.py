"""Many large GPU machines on demand.

Why: such machines are rarely free in numbers. The apply starts some, waits for the rest and fails, while those that run are paid for;
and a group of them close together is harder to find still.

Bad::

    nodes:
      gpu: {site: ohio, system: p5.48xlarge, count: 16}

Good: ``capacity: {kind: capacity-block, id: cr-0a1b2c3d4e5f67890}``, or a reservation.

Source: aws-parallelcluster#1216, and the InsufficientInstanceCapacity log of aws-parallelcluster-node PR#603.
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import catalog
from ...blueprint import Blueprint
from ..rule import Found, rule

FEW = 8  # machines; a judgement, no published limit


@rule("IAC252", "scarce-on-demand", "warning", lab=None)
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, pool in blueprint.nodes.items():
        offered = catalog.system(pool.system).cloud
        on_demand = pool.capacity is None or pool.capacity.kind == "on-demand"
        if offered and offered.capacity_block and on_demand and pool.count >= FEW:
            message = f"{pool.count} machines of type {pool.system} are rarely free on demand"
            yield Found(message, ("nodes", name, "count"), help="take a capacity block or a reservation")
