"""A pool that is larger than it was planned to grow.

Why: fabrics and racks are laid out for ``grow_to``. A count above it is laid out for nobody: cables may move, and the next reader does
not know which of the two figures holds.

Bad::

    nodes:
      gpu: {system: dgx-h100, count: 160, grow_to: 128}

Good: ``grow_to: 256``, or no ``grow_to``.

Source: NVIDIA DGX SuperPOD reference architecture H100, compute fabric: the number of spines follows from the number of units.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..rule import Found, rule


@rule("IAC563", "grown-beyond-plan")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, pool in blueprint.nodes.items():
        if pool.grow_to is not None and pool.count > pool.grow_to:
            advice = f"set nodes.{name}.grow_to: {pool.count} or more, or leave it out: fabrics and racks are then laid out for the {pool.count:,} that stand"
            yield Found(f"{pool.count:,} machines stand where at most {pool.grow_to:,} are planned", ("nodes", name, "grow_to"), help=advice)
