"""A job on more nodes than are free for it.

Why: spares and hosts that are down carry no ranks, but for the spares that stand in for hosts that are down: as many hosts are free as are
left by the spares or by those that are down, whichever are more. Slurm would keep the job waiting for nodes that never come.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 127, spares: 1}
    training:
      pretrain: {nodes: gpu, count: 127}

Good: ``count: 126``, or ``spares: 0``.

Source: aws-parallelcluster compares the size of a reservation with the sum of what takes from it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..rule import Found, rule


@rule("IAC225", "more-nodes-than-free")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, job in blueprint.training.items():
        pool = blueprint.nodes[job.nodes]
        if pool.spares >= pool.count:
            continue  # that alone is a mistake, and told as one
        if (job.count or 1) > pool.free:
            down = len(set(pool.down))
            less = [words for number, words in ((down, f"{down} down"), (pool.spares - down, f"{pool.spares - down} spare")) if number > 0]
            message = f"the job wants {job.count or 1} nodes; {job.nodes} has {pool.count}" + (f", less {' and '.join(less)}" if less else "")
            fewer = [key for key in ("count", "spares", "down") if getattr(pool, key)]
            help = f"set count: {pool.free} or less, or a larger pool" if pool.free > 0 else f"leave hosts of {job.nodes} to work: fewer spares, or a larger pool"
            yield Found(message, ("training", name, "count" if job.count else "nodes"), tuple(Related(("nodes", job.nodes, key), "of the pool") for key in fewer), help)
