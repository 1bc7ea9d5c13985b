"""A name of a site, pool, fabric or store that the blueprint does not have.

Why: a name is an identity. One that leads nowhere is a misspelling, and guessing which was meant could put a job, a cable or a
checkpoint in the wrong place.

Bad::

    scheduler: {kind: slurm, version: "24.11", controllers: ctrl}

Good::

    scheduler: {kind: slurm, version: "24.11", controllers: ctl}

Source: az-hop#994 and cluster-toolkit PR#1589, misspellings found only when the cluster is built.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...blueprint import Blueprint
from ...blueprint.storage import FsxLustre, Lustre
from ...diagnostics.nearest import closest
from ..nearest import nearest
from ..rule import Found, Path, rule


@rule("IAC201", "unknown-reference")
def check(blueprint: Blueprint) -> Iterator[Found]:
    used = {name for _, name, _, _ in _names(blueprint)}
    for what, name, known, path in _names(blueprint):
        if name not in known:
            yield Found(f"there is no {what} {name!r}", path, help=_help(name, known, used))


def _help(name: str, known: Iterable[str], used: set[str]) -> str:
    near = closest(name, known)
    if near and near not in used:
        return f"did you mean {near!r}? Nothing refers to that name: if it is the misspelt one, write {name!r} there"
    return nearest(name, known)


def _names(b: Blueprint) -> Iterator[tuple[str, str, Iterable[str], Path]]:
    for section, things in (("nodes", b.nodes), ("fabrics", b.fabrics), ("storage", b.storage)):
        for name, thing in things.items():  # type: ignore[attr-defined]
            yield "site", thing.site, b.sites, (section, name, "site")
    for name, fabric in b.fabrics.items():
        for i, pool in enumerate(fabric.connects):
            yield "node pool", pool, b.nodes, ("fabrics", name, "connects", i)
        if fabric.manager:
            yield "node pool", fabric.manager.pool, b.nodes, ("fabrics", name, "manager", "pool")
    yield from _stores(b)
    if b.scheduler:
        yield "node pool", b.scheduler.controllers, b.nodes, ("scheduler", "controllers")
        for name, partition in (b.scheduler.partitions or {}).items():
            for i, pool in enumerate(partition.nodes):
                yield "node pool", pool, b.nodes, ("scheduler", "partitions", name, "nodes", i)
    for name, job in b.training.items():
        yield "node pool", job.nodes, b.nodes, ("training", name, "nodes")
        if job.checkpoint:
            yield "storage section", job.checkpoint.to, b.storage, ("training", name, "checkpoint", "to")
        yield from _inputs(b, name)


def _stores(b: Blueprint) -> Iterator[tuple[str, str, Iterable[str], Path]]:
    for name, store in b.storage.items():
        if isinstance(store, Lustre):
            yield "node pool", store.servers, b.nodes, ("storage", name, "servers")
            yield "node pool", store.metadata, b.nodes, ("storage", name, "metadata")
            yield "fabric", store.fabric, b.fabrics, ("storage", name, "fabric")
            for i, pool in enumerate(store.clients or ()):
                yield "node pool", pool, b.nodes, ("storage", name, "clients", i)
        if isinstance(store, FsxLustre) and store.exports_to:
            what = "object store" if store.exports_to in b.storage else "storage section"
            yield what, store.exports_to, [n for n, s in b.storage.items() if s.kind == "s3"], ("storage", name, "exports_to")


def _inputs(b: Blueprint, name: str) -> Iterator[tuple[str, str, Iterable[str], Path]]:
    told, at = b.training[name].input, ("training", name, "input")
    if told and told.stage and not told.stage.source.startswith("s3://"):
        what = "object store" if told.stage.source in b.storage else "storage section"
        yield what, told.stage.source, [n for n, s in b.storage.items() if s.kind == "s3"], (*at, "stage", "source")
    if told and told.cache and told.cache.kind != "nvme":
        yield "node pool", told.cache.servers, b.nodes, (*at, "cache", "servers")
