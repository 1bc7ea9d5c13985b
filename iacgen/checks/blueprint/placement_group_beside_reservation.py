"""A placement group beside a capacity reservation that was not made for it.

Why: reserved machines stand where they stand. A group of its own asks for machines close together, and those of the reservation that
lie elsewhere cannot be used: a part of what is paid for stays empty.

Bad::

    nodes:
      gpu:
        site: ohio
        system: p5.48xlarge
        count: 16
        placement_group: true
        capacity: {kind: capacity-reservation, id: cr-0a1b2c3d4e5f67890}

Good: leave ``placement_group`` out, and ask for the reservation in a group when it is made.

Source: eksctl#7949, eleven of sixteen reserved machines; terraform-aws-eks PR#3730; aws-parallelcluster PR#6311.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..rule import Found, rule


@rule("IAC247", "placement-group-beside-reservation", "warning")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, pool in blueprint.nodes.items():
        if pool.placement_group and pool.capacity and pool.capacity.kind == "capacity-reservation":
            yield Found("machines of the reservation that stand outside the new group cannot be used", ("nodes", name, "placement_group"), (Related(("nodes", name, "capacity"), "what it stands beside"),))
