"""A partition whose nodes no compute network joins.

Why: Slurm gives a job any free nodes of the partition. Nodes that share no compute network cannot talk at its speed, or not at all,
and the tree of topology.conf has no common root for them.

Bad::

    nodes:
      east: {site: hall-a, system: dgx-h100, count: 8}
      west: {site: hall-b, system: dgx-h100, count: 8}
    scheduler:
      partitions: {train: {nodes: [east, west]}}

Good: a partition for each.

Source: topology.conf(5); slurmctld says "TOPOLOGY: warning -- no switch can reach all nodes" and a job across the two waits or crawls.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...diagnostics import Related
from ..duties import far_from_controllers, queues
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC508", "partition-across-fabrics", "warning")
def check(subject: Subject) -> Iterator[Found]:
    given = subject.blueprint.scheduler and subject.blueprint.scheduler.partitions is not None
    for name, pools in queues(subject.blueprint).items():
        homes = {pool: home for pool in pools if not far_from_controllers(subject.blueprint, pool) and (home := _home(subject, pool))}
        if len(set(homes.values())) > 1:
            path = ("scheduler", "partitions", name, "nodes") if given else ("scheduler",)
            message = f"partition {name} spans compute networks: {', '.join(f'{pool} on {home}' for pool, home in sorted(homes.items()))}"
            related = tuple(Related(("nodes", pool), f"on {home}") for pool, home in sorted(homes.items()))
            yield Found(message, path, related, help=None if given else "name the partitions, one for each network", on_key=True)


def _home(subject: Subject, pool: str) -> str | None:
    """The compute network of a GPU pool, or its site in a cloud, which joins all of one zone; None for a pool without."""
    fabric = subject.design.fabric_of(pool, "compute")
    if fabric is None or not subject.design.pools[pool].gpu:
        return None
    return fabric.name if fabric.switch else fabric.site
