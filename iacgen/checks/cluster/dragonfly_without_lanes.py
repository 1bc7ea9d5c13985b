"""A lossless Ethernet dragonfly.

Why: minimal routes of a dragonfly close cycles of links that wait for each other. InfiniBand breaks them by virtual lanes, which the
subnet manager deals out. With priority flow control and one lossless class there is no second lane: under load the fabric can stop and
not start again.

Bad::

    fabrics:
      compute: {technology: roce, topology: dragonfly}

Good: ``technology: infiniband``, or ``topology: rail-fat-tree``.

Source: Kim et al., Technology-Driven, Highly-Scalable Dragonfly Topology (ISCA 2008), section 4.1: two virtual channels for minimal
routes; measured with OpenSM 3.3.23: routes of minhop and sssp on a dragonfly have a cycle.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...design.fabric.sound import cyclic_without_lanes
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC567", "dragonfly-without-lanes")
def check(subject: Subject) -> Iterator[Found]:
    for name in subject.blueprint.fabrics:
        fabric = subject.design.fabrics[name]
        if cyclic_without_lanes(fabric):
            why = "RoCE has one lossless lane" if fabric.technology == "roce" else "Ethernet forwards in them for ever"
            yield Found(f"the links of a dragonfly form cycles, and {why}", ("fabrics", name, "topology"))
