"""An InfiniBand fabric that no subnet manager runs.

Why: without one no port becomes active: every link stays in the state Initialize, and nothing crosses the fabric. A managed
switch has a manager of its own, but it is off until somebody turns it on, and no file here does.

Bad::

    fabrics:
      compute: {site: hall, purpose: compute, connects: [gpu], technology: infiniband, switch: qm9700}

Good: ``manager: {kind: opensm, pool: gpu}``, or a pool of its own with ``kind: ufm``.

Source: InfiniBand architecture specification, volume 1, chapter 14, subnet management; opensm(8).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..rule import Found, rule


@rule("IAC293", "fabric-without-manager")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, fabric in blueprint.fabrics.items():
        if fabric.technology == "infiniband" and fabric.manager is None:
            yield Found("an InfiniBand fabric is dark until a subnet manager runs it", ("fabrics", name), on_key=True)
