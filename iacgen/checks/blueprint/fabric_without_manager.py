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
from ..duties import has_gpus
from ..rule import Found, rule


@rule("IAC293", "fabric-without-manager")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, fabric in blueprint.fabrics.items():
        if fabric.technology == "infiniband" and fabric.manager is None:
            key = f"manager: {{kind: opensm, pool: {_runs(blueprint, fabric.connects)}}}"
            yield Found("an InfiniBand fabric is dark until a subnet manager runs it", ("fabrics", name), help=f"add {key} to fabrics.{name}", on_key=True)


def _runs(blueprint: Blueprint, pools: tuple[str, ...]) -> str:
    """A pool on the fabric to run it: one without GPUs, if there is any with two machines, else the first."""
    spare = (pool for pool in pools if not has_gpus(blueprint, pool) and blueprint.nodes[pool].count > 1)
    return next(spare, pools[0])
