"""A fabric that connects a pool at another site.

Why: a fabric's cables end in its hall. Ports, cables and addresses would be planned for machines that are not there.

Bad::

    fabrics:
      compute: {site: hall-a, purpose: compute, connects: [gpu-b], technology: infiniband, switch: qm9700, manager: {kind: opensm, pool: gpu-b}}

Good: one fabric for each hall, each connecting the pools that stand there.

Source: fabricator refuses connections between devices of different fabrics (githedgehog/fabric#816 shows what happens otherwise).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..rule import Found, rule


@rule("IAC208", "pool-elsewhere")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, fabric in blueprint.fabrics.items():
        for i, pool in enumerate(fabric.connects):
            if blueprint.nodes[pool].site != fabric.site:
                related = (Related(("nodes", pool, "site"), "where it stands"), Related(("fabrics", name, "site"), "where the fabric is"))
                yield Found(f"{pool} stands at {blueprint.nodes[pool].site}, the fabric at {fabric.site}", ("fabrics", name, "connects", i), related)
