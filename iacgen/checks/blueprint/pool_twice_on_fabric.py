"""A pool that a fabric connects twice.

Why: the second entry would plan the same ports again: twice the cables, and two addresses for one interface.

Bad::

    fabrics:
      mgmt: {site: hall, purpose: management, connects: [gpu, ctl, gpu], technology: ethernet, switch: sn2201}

Good::

    fabrics:
      mgmt: {site: hall, purpose: management, connects: [gpu, ctl], technology: ethernet, switch: sn2201}

Source: one port used twice is the usual fault of wiring files (githedgehog/fabric#532, #896).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..rule import Found, rule


@rule("IAC228", "pool-twice-on-fabric")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, fabric in blueprint.fabrics.items():
        for i, pool in enumerate(fabric.connects):
            if pool in fabric.connects[:i]:
                yield Found(f"{pool} is listed twice", ("fabrics", name, "connects", i), (Related(("fabrics", name, "connects", fabric.connects.index(pool)), "the first time"),))
