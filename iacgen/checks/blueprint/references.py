"""Names that lead nowhere: a site, pool, fabric, store or catalog entry that does not exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from ... import catalog
from ...blueprint import Blueprint
from ...blueprint.storage import FsxLustre, Lustre
from ...diagnostics import Diagnostic

Path = tuple[str | int, ...]


def references(blueprint: Blueprint) -> Iterator[Diagnostic]:
    """IAC201 unknown-reference, IAC202 unknown-catalog-entry: with the nearest name that exists."""
    for what, name, known, path in _names(blueprint):
        if name not in known:
            yield Diagnostic("IAC201", "unknown-reference", "error", f"there is no {what} {name!r}", path, help=_nearest(name, known))
    for kind, id, path in _entries(blueprint):
        known = catalog.ids(kind)
        if id not in known:
            yield Diagnostic("IAC202", "unknown-catalog-entry", "error", f"the catalog has no {id!r} among its {kind}", path, help=_nearest(id, known))


def _nearest(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(known)) or 'none'}"


def _names(b: Blueprint) -> Iterator[tuple[str, str, Iterable[str], Path]]:
    sites, pools = b.sites, b.nodes
    for section, things in (("nodes", b.nodes), ("fabrics", b.fabrics), ("storage", b.storage)):
        for name, thing in things.items():  # type: ignore[attr-defined]
            yield "site", thing.site, sites, (section, name, "site")
    for name, fabric in b.fabrics.items():
        for i, pool in enumerate(fabric.connects):
            yield "node pool", pool, pools, ("fabrics", name, "connects", i)
        if fabric.manager:
            yield "node pool", fabric.manager.pool, pools, ("fabrics", name, "manager", "pool")
    for name, store in b.storage.items():
        if isinstance(store, Lustre):
            yield "node pool", store.servers, pools, ("storage", name, "servers")
            yield "node pool", store.metadata, pools, ("storage", name, "metadata")
            yield "fabric", store.fabric, b.fabrics, ("storage", name, "fabric")
        if isinstance(store, FsxLustre) and store.exports_to:
            yield "object store", store.exports_to, [n for n, s in b.storage.items() if s.kind == "s3"], ("storage", name, "exports_to")
    if b.scheduler:
        yield "node pool", b.scheduler.controllers, pools, ("scheduler", "controllers")
        for name, partition in (b.scheduler.partitions or {}).items():
            for i, pool in enumerate(partition.nodes):
                yield "node pool", pool, pools, ("scheduler", "partitions", name, "nodes", i)
    for name, job in b.training.items():
        yield "node pool", job.nodes, pools, ("training", name, "nodes")
        if job.checkpoint:
            yield "storage section", job.checkpoint.to, b.storage, ("training", name, "checkpoint", "to")


def _entries(b: Blueprint) -> Iterator[tuple[str, str, Path]]:
    for name, pool in b.nodes.items():
        yield "systems", pool.system, ("nodes", name, "system")
    for name, fabric in b.fabrics.items():
        yield "switches", fabric.switch, ("fabrics", name, "switch")
    for name, job in b.training.items():
        yield "models", job.model, ("training", name, "model")
