"""A fabric with switches for nodes that are still to come.

Why: spines and cores of every fabric, for compute, storage and management alike, are bought and cabled once, for the size that ``grow_to``
names, so that no cable moves later. That is money in the racks before its time, and the figure to agree on. The finding says what stands
ready on which fabric, for how many units of nodes, leaves or groups, and how many nodes may stand before a cable moves.

Bad::

    nodes:
      gpu: {system: dgx-h100, count: 31, grow_to: 4000}

Good: a ``grow_to`` that somebody has budgeted; then allow the finding.

Source: NVIDIA DGX SuperPOD reference architecture H100, compute fabric: spines of 1 and of 3 scalable units are 4 and 16, so a fabric
that was cabled for one unit is cabled again for three.
"""

from __future__ import annotations

from collections.abc import Iterator

from iacgen.design.fabric.room import ready

from ..rule import Found, rule
from ..subject import Subject


@rule("IAC562", "laid-out-for-growth", "info")
def check(subject: Subject) -> Iterator[Found]:
    for name in subject.blueprint.fabrics:
        fabric = subject.design.fabrics[name]
        growth = fabric.growth
        if growth is None or growth.planned == growth.built or not fabric.trunks:
            continue
        pool = max(fabric.pools, key=lambda p: subject.design.pools[p].planned - subject.design.pools[p].count)
        most = subject.design.room[name][pool]
        message = f"the {fabric.purpose} fabric {name} has {ready(fabric)} where {growth.built:,} stand; more than {most:,} {pool} nodes move cables"
        yield Found(message, ("nodes", pool, "grow_to"))
