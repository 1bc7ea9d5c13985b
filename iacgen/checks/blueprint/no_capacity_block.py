"""A machine type in a capacity block that is not sold in blocks.

Why: the request is refused when the instances start, by then the network and the file system exist and cost money.

Bad::

    nodes:
      head: {site: ohio, system: m7i.4xlarge, count: 1, capacity: {kind: capacity-block, id: cr-0a1b2c3d4e5f67890}}

Good: leave ``capacity`` out; the machine is then bought on demand.

Source: Amazon EC2 user guide, Capacity Blocks for ML, supported instance types.
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import catalog
from ...blueprint import Blueprint
from ...diagnostics import Related
from ..rule import Found, rule


@rule("IAC214", "no-capacity-block")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, pool in blueprint.nodes.items():
        offered = catalog.system(pool.system).cloud
        if offered and pool.capacity and pool.capacity.kind == "capacity-block" and not offered.capacity_block:
            yield Found(f"{pool.system} is not sold in capacity blocks", ("nodes", name, "capacity", "kind"), (Related(("nodes", name, "system"), "the type"),))
