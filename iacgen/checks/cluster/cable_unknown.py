"""Links of a speed for which the catalog has no cable.

Why: they are missing from the order, and nobody has looked whether they reach.

Bad: a fabric on the 25 Gb/s ports of sn3700c.

Good: a small file under ``iacgen/catalog/data/cables/`` for what you buy.

Source: the catalog's own shelf of cables.
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import catalog
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC581", "cable-unknown", "info", lab=None)
def check(subject: Subject) -> Iterator[Found]:
    known = {id.partition("g-")[0] for id in catalog.ids("cables")}
    for name, fabric in subject.design.fabrics.items():
        missing = sorted({gbps for gbps in fabric.link_gbps.values() if str(gbps) not in known}) if fabric.tiers else []
        if missing:
            yield Found(f"nothing is known of cables for {', '.join(map(str, missing))} Gb/s", ("fabrics", name), on_key=True)
