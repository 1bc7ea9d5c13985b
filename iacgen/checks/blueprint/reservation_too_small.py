"""Pools that take more machines from a reservation than it holds.

Why: a reservation or a block has a fixed number of machines. The first ones start and are paid for, the last ones never come, and a
job that was planned for all of them cannot run.

Bad::

    nodes:
      gpu:
        site: ohio
        system: p5.48xlarge
        count: 20
        capacity: {kind: capacity-reservation, id: cr-0a1b2c3d4e5f67890, machines: 16}

Good: ``count: 16``, or a second pool that takes the other four from elsewhere.

Source: aws-parallelcluster's CapacityReservationSizeValidator; eksctl#7949, eleven machines out of sixteen reserved ones.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..duties import taking
from ..rule import Found, rule


@rule("IAC242", "reservation-too-small")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for id, pools in taking(blueprint).items():
        wanted = sum(blueprint.nodes[name].count for name in pools)
        for name in pools:
            capacity = blueprint.nodes[name].capacity
            if capacity.machines is not None and wanted > capacity.machines:
                related = tuple(Related(("nodes", other, "count"), f"takes {blueprint.nodes[other].count}") for other in pools)
                yield Found(f"{id} holds {capacity.machines} machines and the pools take {wanted}", ("nodes", name, "capacity", "machines"), related)
