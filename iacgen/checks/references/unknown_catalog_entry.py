"""A system, switch or model that the catalog does not have.

Why: every figure in every file follows from the catalog. What it does not know cannot be sized, checked or priced.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-h10, count: 8}

Good: ``system: dgx-h100``. ``iacgen catalog`` lists what there is; a new thing is one small file.

Source: the AWS provider accepts an unknown instance type such as p99.metal in validate and plan (hashicorp/aws 5.100.0, measured).
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import catalog
from ...blueprint import Blueprint
from ..nearest import nearest
from ..rule import Found, Path, rule


@rule("IAC202", "unknown-catalog-entry")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for kind, id, path in _entries(blueprint):
        known = catalog.ids(kind)
        if id not in known:
            yield Found(f"the catalog has no {id!r} among its {kind}", path, help=nearest(id, known))


def _entries(b: Blueprint) -> Iterator[tuple[str, str, Path]]:
    for name, pool in b.nodes.items():
        yield "systems", pool.system, ("nodes", name, "system")
    for name, fabric in b.fabrics.items():
        yield from (("switches", id, ("fabrics", name, key)) for key in ("switch", "spine") if (id := getattr(fabric, key)))
    for name, job in b.training.items():
        if job.model not in b.models:
            yield "models", job.model, ("training", name, "model")
