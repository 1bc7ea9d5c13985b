"""A unit on a fabric that has no units.

Why: only a rail-optimised fabric is built of units. A plain fat-tree fills its leaves one after another, and the figure does nothing.

Bad::

    fabrics:
      compute: {topology: fat-tree, unit: 32}

Good: ``topology: rail-fat-tree``, or leave ``unit`` out.

Source: DGX SuperPOD reference architecture H100, compute fabric.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject


@rule("IAC534", "ignored-unit", "warning")
def check(subject: Subject) -> Iterator[Found]:
    for name, fabric in subject.blueprint.fabrics.items():
        if fabric.unit is not None and fabric.topology != "rail-fat-tree":
            yield Found("a plain fat-tree has no units", ("fabrics", name, "unit"), on_key=True)
