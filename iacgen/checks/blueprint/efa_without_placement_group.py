"""Machines with EFA that are not kept close together.

Why: without a cluster placement group the machines are spread over the zone. EFA works, but every message crosses more switches, and
training that waits for the slowest message gets slower.

Bad::

    nodes:
      gpu: {site: ohio, system: p5.48xlarge, count: 4, placement_group: false}

Good: leave ``placement_group`` out. Take this road only when the zone has no room for the group.

Source: aws-parallelcluster's validator EfaPlacementGroupValidator.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..duties import efa_interfaces
from ..rule import Found, rule


@rule("IAC248", "efa-without-placement-group", "warning", lab="info")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, pool in blueprint.nodes.items():
        bought = pool.capacity is None or pool.capacity.kind in ("on-demand", "spot")
        if pool.placement_group is False and bought and pool.count > 1 and efa_interfaces(blueprint, name):
            yield Found(f"{pool.count} machines with EFA may stand anywhere in the zone", ("nodes", name, "placement_group"))
