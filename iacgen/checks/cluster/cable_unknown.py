"""Links for which the catalog has no cable: none of their speed, or none between the cages at their ends.

Why: they are missing from the order, and nobody has looked whether they reach.

Bad: a fabric on the 25 Gb/s ports of sn3700c; leaves sn2201 below a spine sn5600, whose cages are of another form.

Good: a small file under ``iacgen/catalog/data/cables/`` for what you buy.

Source: the catalog's own shelf of cables.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...design.facility.cables import unfit
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC581", "cable-unknown", "warning", lab="info")
def check(subject: Subject) -> Iterator[Found]:
    for name, fabric in subject.design.fabrics.items():
        for (gbps, near, far), count in sorted(unfit(fabric).items(), key=str) if fabric.tiers else ():
            yield Found(f"no cable is known for {count:,} links of {gbps} Gb/s from {near} to {far}", ("fabrics", name), on_key=True)
