"""A scalable unit that is less than half full.

Why: on a fabric by rails, for compute or for storage, the leaves of a unit are laid in full, one for each rail, whatever stands in it. A
few nodes cost as many switches as a whole unit.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 68}
    fabrics:
      compute: {topology: rail-fat-tree, unit: 32}

Good: ``count: 64``, or a unit that divides the count better.

Source: DGX SuperPOD reference architecture H100, compute fabric: leaves per scalable unit.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject


@rule("IAC525", "mostly-empty-unit", "info", lab=None)
def check(subject: Subject) -> Iterator[Found]:
    for name in subject.blueprint.fabrics:
        fabric = subject.design.fabrics[name]
        last = fabric.groups[-1]
        if fabric.by_rail and fabric.unit and 2 * len(last.hosts) < fabric.unit:
            yield Found(f"{len(last.hosts)} of {fabric.unit} nodes in the last unit, and {len(last.leaves)} leaves for them", ("fabrics", name, "unit"))
