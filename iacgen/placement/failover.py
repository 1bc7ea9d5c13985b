"""Hosts fail under an order that runs: what changes if as little as can be does, and what a new order would save."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from iacgen.design.fabric.hierarchy import Hierarchy
from iacgen.design.model import Design
from iacgen.diagnostics import Diagnostic
from iacgen.training.plan import Job

from .assumptions import EXPOSED
from .cost import cost
from .model import Cost, Placement
from .placing import chosen_on, ground_of, moves_between, placement_on, refusals, split
from .replacement import replaced
from .tiers import Tiers


@dataclass(frozen=True)
class Failover:
    """The order ``after`` the hosts in ``down`` have failed: its ``moves`` are all that changes, its ``unmoved_cost`` is what the order cost before.

    ``shared``, one for each of its moves: "nvlink" where both hosts are of one NVLink domain, else the lowest tier of whose groups both are in one,
    None where there is none. ``anew``: the cost of an order made for the hosts that are left, in which ``anew_moved`` hosts of the job would be others than before.
    ``generated``: whether ``generate`` writes the order ``after`` once these hosts stand as down in the blueprint.
    """

    down: tuple[str, ...]
    after: Placement
    shared: tuple[str | None, ...]
    anew: Cost
    anew_moved: int
    generated: bool


def failover(design: Design, pool_name: str, job: Job, now: Placement, down: Collection[str], found: Hierarchy | None = None) -> tuple[Failover | None, list[Diagnostic]]:
    """What becomes of the order ``now`` when hosts of the pool fail; None and why not (ids IAC40x) where too few are left.

    Each gets the idle host that is nearest (see ``replaced``). Raises ValueError for a host that the pool does not have.
    """
    before = design.pools[pool_name]
    if unknown := sorted(set(down) - set(before.hosts)):
        raise ValueError(f"pool {pool_name} has no host {unknown[0]}")
    pool = replace(before, down=before.down | set(down))
    ground = ground_of(design, pool, job, found)
    if findings := refusals(design, pool, job, ground, found):
        return None, findings
    index = {host: i for i, host in enumerate(ground.hosts)}
    order = np.array([index[host] for host in now.hosts], dtype=np.int64)
    spares = {index[idle.host] for idle in now.idle if idle.why == "spare"}
    try:
        chosen = chosen_on(ground, pool, job)
    except LookupError:
        return None, [split(pool, ground, job)]
    moved = replaced(ground.tiers, job.grid, job.traffic, EXPOSED, order, {index[host] for host in pool.down if host in index}, spares)
    if moved is None:
        return None, [split(pool, ground, job)]
    choice = replace(chosen.fresh, order=moved, cost=cost(ground.tiers, job.grid, job.traffic, moved, EXPOSED))
    after = placement_on(ground, pool, job, choice, moves_between(ground, order, moved), now.cost)
    near = tuple(_shared(ground.tiers, int(order[move.node]), int(moved[move.node])) for move in after.moves)
    out = tuple(host for host in pool.hosts if host in down)
    return Failover(out, after, near, chosen.fresh.cost, int((chosen.fresh.order != order).sum()), bool((chosen.made.order == moved).all())), []


def _shared(tiers: Tiers, one: int, other: int) -> str | None:
    if tiers.domain is not None and tiers.domain[one] == tiers.domain[other]:
        return "nvlink"
    return next((name for name, labels in zip(tiers.names, tiers.labels, strict=True) if labels[one] == labels[other]), None)
