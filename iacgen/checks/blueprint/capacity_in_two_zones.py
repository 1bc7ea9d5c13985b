"""One reservation for pools in two zones.

Why: reserved machines stand in one availability zone. A machine whose subnet lies in another zone cannot be started from them.

Bad::

    nodes:
      gpu: {site: ohio, system: p5.48xlarge, count: 8, capacity: {kind: capacity-block, id: cr-0a1b2c3d4e5f67890}}
      far: {site: oregon, system: p5.48xlarge, count: 8, capacity: {kind: capacity-block, id: cr-0a1b2c3d4e5f67890}}

Good: a reservation of its own for each zone.

Source: aws-parallelcluster's validator that a reservation lies in the zone of the subnet.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..duties import aws_sites, taking
from ..rule import Found, rule


@rule("IAC245", "capacity-in-two-zones")
def check(blueprint: Blueprint) -> Iterator[Found]:
    sites = aws_sites(blueprint)
    for id, (first, *others) in taking(blueprint).items():
        zone = sites[blueprint.nodes[first].site].zone
        for name in others:
            if (theirs := sites[blueprint.nodes[name].site].zone) != zone:
                related = (Related(("nodes", first, "capacity", "id"), f"taken in {zone} here"), Related(("nodes", name, "site"), f"stands in {theirs}"))
                yield Found(f"{id} serves nodes.{first} in {zone} and cannot serve {theirs}", ("nodes", name, "capacity", "id"), related)
