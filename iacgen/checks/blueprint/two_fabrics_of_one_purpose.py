"""A pool on two fabrics of the same purpose.

Why: a machine's ports of one purpose are cabled once. The two plans would name the same ports, and hosts, Slurm and NCCL are told of
the first fabric alone.

Bad::

    fabrics:
      compute: {purpose: compute, connects: [gpu]}
      backup: {purpose: compute, connects: [gpu]}

Good: one fabric for each purpose.

Source: the cable plan: a port takes one cable.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..rule import Found, rule


@rule("IAC535", "two-fabrics-of-one-purpose")
def check(blueprint: Blueprint) -> Iterator[Found]:
    seen: dict[tuple[str, str], str] = {}
    for name, fabric in blueprint.fabrics.items():
        for i, pool in enumerate(fabric.connects):
            first = seen.setdefault((pool, fabric.purpose), name)
            if first != name:
                yield Found(f"the {fabric.purpose} ports of {pool} are cabled to {first} already", ("fabrics", name, "connects", i), (Related(("fabrics", first, "connects"), f"connects {pool} already"),))
