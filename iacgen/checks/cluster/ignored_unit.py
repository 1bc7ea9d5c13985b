"""A unit on a fabric that has no units.

Why: only a fabric by rails is built of units. Others fill their leaves one after another, and the figure does nothing.

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
        for key in ("unit", "units") if fabric.topology not in ("rail-fat-tree", "rail-only") else ():
            if getattr(fabric, key):
                yield Found(f"a {fabric.topology} has no units", ("fabrics", name, key), on_key=True)
