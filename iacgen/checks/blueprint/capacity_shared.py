"""Two pools of different machine types that take from one reservation.

Why: a reservation holds machines of one type. The second pool finds no capacity, and the apply fails half way.

Bad::

    nodes:
      gpu: {site: ohio, system: p5.48xlarge, count: 4, capacity: {kind: capacity-reservation, id: cr-0a1b2c3d4e5f67890}}
      head: {site: ohio, system: m7i.4xlarge, count: 1, capacity: {kind: capacity-reservation, id: cr-0a1b2c3d4e5f67890}}

Good: one reservation for each type, or the head node on demand.

Source: aws-parallelcluster validates that the instance type of a capacity reservation matches (CapacityReservationValidator).
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import catalog
from ...blueprint import Blueprint
from ...diagnostics import Related
from ..rule import Found, rule


@rule("IAC215", "capacity-shared")
def check(blueprint: Blueprint) -> Iterator[Found]:
    seen: dict[str, str] = {}
    for name, pool in blueprint.nodes.items():
        if not hasattr(pool.capacity, "id") or not catalog.system(pool.system).cloud:
            continue
        first = seen.setdefault(pool.capacity.id, name)
        if blueprint.nodes[first].system != pool.system:
            message = f"{pool.capacity.id} holds machines of one type; nodes.{first} takes {blueprint.nodes[first].system} from it"
            yield Found(message, ("nodes", name, "capacity", "id"), (Related(("nodes", first, "system"), "the other type"),))
