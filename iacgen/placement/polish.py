"""A last look at small jobs that no construction brought to the bound: exchanges of hosts, as long as they help."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from iacgen.training.traffic import NodeGrid, Traffic

from .bins import Bins, bins
from .cost import Order, cost, whole
from .enumerate import seconds_of
from .model import Family
from .tiers import Tiers

MOST_NODES = 192
CELLS = 20_000_000
"""Virtual nodes in all neighbours that are scored, at most."""
_WORSE = 12
"""Steps that need not help, one after the other."""

Assigned = NDArray[np.int32]


def polished(tiers: Tiers, grid: NodeGrid, traffic: Traffic, exposed: Mapping[Family, float], order: Order, bound_s: float) -> tuple[Order, int]:
    """(an order that is no slower, how many were scored). Jobs of more than ``MOST_NODES`` nodes stay as they are.

    From each order the best of those is taken that differ by an exchange of two tensor groups' hosts or by a move to idle ones; one that was
    there before is never taken again, so that it leaves orders that are merely better than all next to them.
    """
    if grid.nodes > MOST_NODES:
        return order, 0
    held = bins(tiers)
    at = held.assigned(order).astype(np.int32)
    best, best_s = at, cost(tiers, grid, traffic, order, exposed).total_s
    seen, scored, idle_steps = {at.tobytes()}, 0, 0
    while idle_steps <= _WORSE and best_s > bound_s * (1 + 1e-9) and scored * grid.nodes < CELLS:
        near = [one for one in _neighbours(held, grid, at) if one.tobytes() not in seen]
        if not near:
            break
        seconds = seconds_of(tiers, held, grid, traffic, exposed, np.array(near))
        scored += len(near)
        pick = int(np.lexsort((np.arange(len(near)), np.round(seconds / best_s, 9)))[0])
        at = near[pick]
        seen.add(at.tobytes())
        idle_steps = 0 if seconds[pick] < best_s * (1 - 1e-9) else idle_steps + 1
        if seconds[pick] < best_s * (1 - 1e-9):
            best, best_s = at, float(seconds[pick])
    found = held.order(best)
    return (found, scored) if whole(tiers, grid, found) else (order, scored)


def _neighbours(held: Bins, grid: NodeGrid, at: Assigned) -> Iterator[Assigned]:
    """Assignments that differ by one exchange or move of a tensor group, or of an expert group or a stage as a whole."""
    free = held.sizes - np.bincount(at, minlength=len(held.sizes))
    for size in sorted({grid.tensor, grid.expert, grid.context * grid.tensor, grid.row}):
        if size % grid.tensor or grid.nodes % size:
            continue
        groups = at.reshape(-1, size)
        for i in range(len(groups)):
            for j in range(i):
                if (groups[i] != groups[j]).any():
                    other = groups.copy()
                    other[[i, j]] = groups[[j, i]]
                    yield other.ravel()
        for i in range(len(groups)):
            for b in np.flatnonzero(free >= size):
                if (groups[i] != b).any() and (free[b] >= size):
                    other = groups.copy()
                    other[i] = b
                    yield other.ravel()
