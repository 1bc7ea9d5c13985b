"""A last look at small jobs that no construction brought to the bound: exchanges of hosts, as long as they help."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from iacgen.training.traffic import NodeGrid, Traffic

from .bins import Bins, bins
from .cost import Order, cost, whole
from .enumerate import scores_of
from .model import Family
from .tiers import Tiers

MOST_NODES = 192
CELLS = 8_000_000
"""Virtual nodes in all neighbours that are scored, at most."""
STARTS = 8
"""Orders that exchanges begin at, at most."""
_WORSE = 16
"""Steps that need not help, one after the other."""

Assigned = NDArray[np.int32]


def polished(
    tiers: Tiers, grid: NodeGrid, traffic: Traffic, exposed: Mapping[Family, float], orders: Sequence[Order], bound_s: float
) -> tuple[Order, int]:
    """(an order no slower than the first of ``orders``, how many were scored). Jobs of more than ``MOST_NODES`` nodes stay as they are.

    From each order the best of those is taken that differ by an exchange of two tensor groups' hosts, of two expert, context or shard groups, two columns or
    two rows, or by a move to idle hosts; of equally fast ones the least crowded one. One that was there before is never
    taken again, so that the search leaves orders that are merely better than all next to them.
    """
    if grid.nodes > MOST_NODES:
        return orders[0], 0
    held = bins(tiers)
    climb = _Climb(tiers, grid, traffic, exposed, held, bound_s, cost(tiers, grid, traffic, orders[0], exposed).total_s, held.assigned(orders[0]).astype(np.int32))
    for order in orders[:STARTS]:
        climb.begin(held.assigned(order).astype(np.int32))
    found = held.order(climb.best)
    return (found if whole(tiers, grid, found) else orders[0]), climb.scored


@dataclass
class _Climb:
    tiers: Tiers
    grid: NodeGrid
    traffic: Traffic
    exposed: Mapping[Family, float]
    held: Bins
    bound_s: float
    best_s: float
    best: Assigned
    scored: int = 0
    seen: set[bytes] = field(default_factory=set)

    @property
    def cells(self) -> int:
        """What one order weighs: its nodes, and where single links are counted a third of their ways."""
        return self.grid.nodes + (0 if self.tiers.ways is None else len(self.tiers.ways.pair) // 3)

    def begin(self, at: Assigned) -> None:
        """Go from one order to the next as long as there is hope."""
        worse = 0
        while worse <= _WORSE and self.best_s > self.bound_s * (1 + 1e-9) and self.scored * self.cells < CELLS:
            self.seen.add(at.tobytes())
            near = [one for one in _neighbours(self.held, self.grid, at) if one.tobytes() not in self.seen]
            if not near:
                return
            seconds, _, crowd = scores_of(self.tiers, self.held, self.grid, self.traffic, self.exposed, np.array(near))
            self.scored += len(near)
            pick = int(np.lexsort((np.arange(len(near)), np.round(crowd / self.best_s, 9), np.round(seconds / self.best_s, 9)))[0])
            at = near[pick]
            better = seconds[pick] < self.best_s * (1 - 1e-9)
            worse = 0 if better else worse + 1
            if better:
                self.best, self.best_s = at, float(seconds[pick])


def _neighbours(held: Bins, grid: NodeGrid, at: Assigned) -> Iterator[Assigned]:
    """Assignments that differ by one exchange, or by one move to idle hosts."""
    free = held.sizes - np.bincount(at, minlength=len(held.sizes))
    for size in sorted({grid.tensor, grid.expert, grid.context * grid.tensor, grid.apart, grid.row}):
        if size % grid.tensor or grid.nodes % size:
            continue
        groups = at.reshape(-1, size)
        for i in range(len(groups)):
            yield from (_exchanged(groups, i, j).ravel() for j in range(i) if (groups[i] != groups[j]).any())
            for b in np.flatnonzero(free >= size):
                if (groups[i] != b).any():
                    other = groups.copy()
                    other[i] = b
                    yield other.ravel()
    columns = at.reshape(grid.pipeline, -1, grid.tensor).swapaxes(0, 1)
    for i in range(len(columns)):
        yield from (_exchanged(columns, i, j).swapaxes(0, 1).ravel() for j in range(i) if (columns[i] != columns[j]).any())


def _exchanged(groups: Assigned, i: int, j: int) -> Assigned:
    other = groups.copy()
    other[[i, j]] = groups[[j, i]]
    return other
