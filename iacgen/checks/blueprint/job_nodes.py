"""Jobs on nodes that cannot run them."""

from __future__ import annotations

from collections.abc import Iterator

from ... import catalog
from ...blueprint import Blueprint
from ...diagnostics import Diagnostic


def job_nodes(blueprint: Blueprint) -> Iterator[Diagnostic]:
    """IAC224 nodes-without-gpus, IAC225 more-nodes-than-free, IAC227 store-not-mounted."""
    for name, job in blueprint.training.items():
        pool, at = blueprint.nodes[job.nodes], ("training", name)
        if not catalog.system(pool.system).gpus:
            yield Diagnostic("IAC224", "nodes-without-gpus", "error", f"{pool.system} has no GPU", (*at, "nodes"))
        free = pool.count - pool.spares - len(pool.down)
        if (job.count or 1) > free:
            message = f"the job wants {job.count} nodes; {job.nodes} has {pool.count}, less {pool.spares} spare and {len(pool.down)} down"
            yield Diagnostic("IAC225", "more-nodes-than-free", "error", message, (*at, "count"))
        if job.checkpoint:
            store = blueprint.storage[job.checkpoint.to]
            if not hasattr(store, "mount"):
                yield Diagnostic("IAC227", "store-not-mounted", "error", f"a checkpoint is written to a mounted file system; {job.checkpoint.to} is {store.kind}", (*at, "checkpoint", "to"))
            elif store.site != pool.site:
                yield Diagnostic("IAC227", "store-not-mounted", "error", f"{job.checkpoint.to} stands at {store.site}, the job runs at {pool.site}", (*at, "checkpoint", "to"))
