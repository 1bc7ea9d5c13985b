"""More machines out of one capacity block than a block can have.

Why: a block is sold with 64 machines at most, so the id cannot be right for all of them. Several blocks make several pools.

Bad::

    nodes:
      gpu: {site: ohio, system: p5.48xlarge, count: 96, capacity: {kind: capacity-block, id: cr-0a1b2c3d4e5f67890}}

Good: two pools of 48, each with the id of its own block.

Source: Amazon EC2 user guide, Capacity Blocks for ML: up to 64 instances in a block, 256 over all blocks.
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import catalog
from ...blueprint import Blueprint
from ...diagnostics import Related
from ..duties import taking
from ..rule import Found, rule


@rule("IAC243", "larger-than-a-block")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for id, names in taking(blueprint).items():
        pools = {name: blueprint.nodes[name] for name in names if blueprint.nodes[name].capacity.kind == "capacity-block"}
        if not pools:
            continue
        most = catalog.cloud("aws").capacity_block.most_machines
        said = {name: pool.capacity.machines for name, pool in pools.items() if pool.capacity.machines is not None}
        for name, machines in said.items():
            if machines > most:
                yield Found(f"a capacity block has {most} machines at most", ("nodes", name, "capacity", "machines"))
        wanted = sum(pool.count for pool in pools.values())
        if wanted > most and not said:
            *others, last = pools
            related = tuple(Related(("nodes", name, "count"), "from the same block") for name in others)
            yield Found(f"{wanted} machines from {id}; a capacity block has {most} at most", ("nodes", last, "count"), related)
