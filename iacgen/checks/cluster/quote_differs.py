"""A figure of an offer that the design does not come to.

Why: an offer or a printed table is checked once, by hand, before the money is spent. A table can be misprinted, and an offer can be
for another size: either is cheap to find on paper and dear to find in the hall.

Bad::

    fabrics:
      compute: {topology: rail-fat-tree, switch: q3400-ra, unit: 72, quoted: {gpus: 9216, leaf: 144, spine: 72}}

The 1,296 nodes that 144 leaves carry have 10,368 GPUs.

Good: figures that the design comes to, or a design that comes to the figures.

Source: NVIDIA DGX SuperPOD reference architecture B300 (XDR), table 3, row of 18 scalable units: 9,216 GPUs beside 10,368 node cables.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...design.fabric.quoted import differences
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC560", "quote-differs")
def check(subject: Subject) -> Iterator[Found]:
    for name, wanted in subject.blueprint.fabrics.items():
        fabric = subject.design.fabrics[name]
        gpus = sum(pool.count * pool.system.gpus for pool in map(subject.design.pools.__getitem__, fabric.pools))
        for figure, quoted, designed in differences(fabric, gpus, wanted.quoted.model_dump(exclude_none=True) if wanted.quoted else {}):
            yield Found(f"{quoted:,} quoted, {designed:,} designed", ("fabrics", name, "quoted", figure))
