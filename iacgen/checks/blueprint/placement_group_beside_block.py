"""A placement group beside a capacity block.

Why: a block decides by itself where its machines stand, close together. The launch with a group of one's own beside it is refused.

Bad::

    nodes:
      gpu:
        site: ohio
        system: p5.48xlarge
        count: 16
        placement_group: true
        capacity: {kind: capacity-block, id: cr-0a1b2c3d4e5f67890}

Good: leave ``placement_group`` out.

Source: Amazon EC2 user guide, Capacity Blocks for ML; eksctl PR#8207.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..rule import Found, rule


@rule("IAC246", "placement-group-beside-block")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, pool in blueprint.nodes.items():
        if pool.placement_group and pool.capacity and pool.capacity.kind == "capacity-block":
            yield Found("a capacity block decides by itself where its machines stand", ("nodes", name, "placement_group"), (Related(("nodes", name, "capacity"), "what it stands beside"),))
