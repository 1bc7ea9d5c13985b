"""A fabric whose next unit, or leaf, moves cables that lie.

Why: spines have the ports that they have. When one more group of leaves needs more spines, every leaf spreads its uplinks anew, and
a cluster in service is taken apart for it.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 127}
    fabrics:
      compute: {topology: rail-fat-tree, switch: qm9700, unit: 32}

Good: lay the spines of the final size in the first place, if it is known that the cluster will grow.

Source: DGX SuperPOD reference architecture H100: 16 spines carry up to 4 scalable units, 32 spines up to 8.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...design.fabric.sizing import equal_links
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC524", "growth-needs-new-cables", "info", lab=None)
def check(subject: Subject) -> Iterator[Found]:
    for name in subject.blueprint.fabrics:
        fabric = subject.design.fabrics[name]
        if fabric.topology != "rail-fat-tree" or fabric.switch is None or fabric.uplinks is None:
            continue
        now, leaves = fabric.uplinks, len(fabric.leaves) + len(fabric.groups[-1].leaves)
        grown = equal_links(leaves, now.count, fabric.switch.ports(now.gbps), now.gbps)
        if grown != now:
            what = f"takes {grown.spines} spines in place of {now.spines}: all {now.count} uplinks of every leaf move" if grown else "needs a third tier of switches"
            yield Found(f"{len(fabric.leaves)} leaves fill the spines; one unit more {what}", ("fabrics", name), on_key=True)
