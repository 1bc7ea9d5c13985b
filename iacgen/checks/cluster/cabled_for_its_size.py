"""A compute fabric whose spines and cores are sized for the nodes that stand.

Why: without ``grow_to`` the switches above the leaves are the fewest that carry today's nodes. The next unit may want more of them, and then
uplinks that are laid move to other ports: cabling done twice, in racks that are at work. The finding says what was sized, and how many nodes
may be added, one after another, before a cable moves. A count made smaller takes cables away, which ``generate`` says.

Bad::

    nodes:
      gpu: {system: dgx-h100, count: 32}

Good: ``grow_to: 127`` where more will come; else allow the finding, and it is known.

Source: NVIDIA DGX SuperPOD reference architecture H100, compute fabric: 4 spines for 1 scalable unit and 16 for 3, so that a fabric which was
cabled for one unit is cabled again for three.
"""

from __future__ import annotations

from collections.abc import Iterator

from iacgen.design.fabric.room import ready

from ..rule import Found, rule
from ..subject import Subject


@rule("IAC641", "cabled-for-its-size", "info", lab=None)
def check(subject: Subject) -> Iterator[Found]:
    pools = subject.design.pools
    for name in subject.blueprint.fabrics:
        fabric = subject.design.fabrics[name]
        if fabric.purpose != "compute" or not fabric.trunks or any(pools[pool].planned > pools[pool].count for pool in fabric.pools):
            continue
        pool = max(fabric.pools, key=lambda p: (bool(pools[p].gpu), pools[p].count))
        most, count = subject.design.room[name][pool], pools[pool].count
        more = f"{most - count:,} more {pool} nodes fit, {most:,} in all," if most - count > 1 else f"one more {pool} node fits" if most > count else f"no {pool} node more fits"
        message = f"the compute fabric {name} has {ready(fabric)}: {more} before laid cables move"
        yield Found(message, ("nodes", pool, "count"), help=f"set nodes.{pool}.grow_to to lay it out for more from the start")
