"""A fabric that is built with more uplinks than its oversubscription asks for.

Why: uplinks are shared out evenly over whole switches. Where the figure does not come out, more are laid than wanted, and they are
paid for. A figure that comes out costs less or gives more.

Bad::

    fabrics:
      compute: {switch: sn5600, oversubscription: 3.0}

Good: the figure that the finding names, or another unit.

Source: the equal-links rule of NVIDIA's DGX SuperPOD reference architectures, tables of the compute fabric.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject

TOLERANCE = 0.1  # share of the figure asked for


@rule("IAC523", "oversubscription-rounded", "info")
def check(subject: Subject) -> Iterator[Found]:
    for name, wanted in subject.blueprint.fabrics.items():
        fabric = subject.design.fabrics[name]
        if wanted.oversubscription > 1 and fabric.oversubscription < (1 - TOLERANCE) * wanted.oversubscription:
            built = f"the fabric is built with {fabric.oversubscription:.2g}" if fabric.trunks else "one switch carries all ports, so that there are no uplinks to save"
            yield Found(f"oversubscription {wanted.oversubscription:g} is asked for, but {built}", ("fabrics", name, "oversubscription"))
