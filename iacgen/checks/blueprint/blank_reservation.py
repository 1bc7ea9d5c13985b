"""An id of a reservation that only holds the place of one.

Why: it has the form of an id, so everything is written from it, and the first thing that AWS is asked for is a reservation that nobody
has: the request fails after networks and file systems were made.

Bad::

    nodes:
      gpu: {site: ohio, system: p5.48xlarge, count: 16, capacity: {kind: capacity-block, id: cr-00000000000000000}}

Good: the id that ``aws ec2 describe-capacity-reservations`` shows.

Source: Amazon EC2 API reference, RunInstances: InvalidCapacityReservationId.NotFound.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..rule import Found, rule


@rule("IAC596", "blank-reservation")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, pool in blueprint.nodes.items():
        id = getattr(pool.capacity, "id", "")
        if len(set(id.removeprefix("cr-"))) == 1:
            yield Found(f"{id} is no reservation of anybody", ("nodes", name, "capacity", "id"), help="write the id of your own")
