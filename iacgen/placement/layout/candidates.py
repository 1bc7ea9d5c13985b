"""Every walk over the grid along every choice of hosts that suits it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from iacgen.training.traffic import NodeGrid

from ..cost import whole
from ..tiers import Tiers
from .seats import Ground, Rule, Seats, Turn, grounds
from .shards import by_group
from .straddle import straddled
from .walks import Walk, walks

Order = NDArray[np.int64]


def candidates(tiers: Tiers, grid: NodeGrid) -> Iterator[Order]:
    """Orders in the sense of ``cost``, each once: topological first, the hosts as they come (sorted names) last; none that splits a tensor
    group between NVLink domains.

    Raises ValueError when there are fewer hosts than virtual nodes.
    """
    if tiers.hosts < grid.nodes:
        raise ValueError(f"{grid.nodes} virtual nodes on {tiers.hosts} hosts")
    seen = set()
    for order in _all(tiers, grid):
        key = hash(order.tobytes())
        if key not in seen and whole(tiers, grid, order):
            seen.add(key)
            yield order


def as_they_come(grid: NodeGrid) -> Order:
    """Virtual node v on host v."""
    return np.arange(grid.nodes)


def topological(tiers: Tiers, grid: NodeGrid) -> Order:
    """Virtual node v on the host that comes in place v when hosts are sorted by their groups, upper tiers first."""
    return next(grounds(tiers)).hosts[: grid.nodes]


def _all(tiers: Tiers, grid: NodeGrid) -> Iterator[Order]:
    yield topological(tiers, grid)
    fields = list(grounds(tiers))
    yield from _laid(grid, fields)
    yield from _cut_evenly(grid, fields)
    if groups := by_group(grid):
        yield from _laid(groups, fields)
    yield as_they_come(grid)


def _laid(grid: NodeGrid, fields: list[Ground]) -> Iterator[Order]:
    """Each walk along each choice of hosts."""
    taken: dict[tuple[int, Rule], Seats | None] = {}
    for walk in walks(grid, {n // grid.row for ground in fields for n in (*ground.size, *np.bincount(ground.pod, ground.size).astype(int))}):
        laid: dict[bytes, Order] = {}  # many choices of hosts fill the pods alike
        for number, ground in enumerate(fields):
            if walk.inner != walk.stages and ground.pods == 1:
                continue
            for rule in _rules(grid, walk, ground):
                if (number, rule) not in taken:
                    taken[number, rule] = ground.seats(rule, grid.nodes)
                if seats := taken[number, rule]:
                    takes = seats.takes.tobytes()
                    if takes not in laid:
                        laid[takes] = walk.cells(grid, seats.takes)
                    order = np.empty(grid.nodes, dtype=np.int64)
                    order[laid[takes]] = seats.hosts
                    yield order


def _cut_evenly(grid: NodeGrid, fields: list[Ground]) -> Iterator[Order]:
    """Expert groups that must straddle, cut in two."""
    for ground in fields if grid.expert > 1 else ():
        for seats in straddled(ground, grid.nodes, grid.expert):
            for walk in walks(grid):
                if walk.width == grid.expert:
                    order = np.empty(grid.nodes, dtype=np.int64)
                    order[walk.cells(grid, seats.takes)] = seats.hosts
                    yield order


def _rules(grid: NodeGrid, walk: Walk, ground: Ground) -> list[Rule]:
    """Ways to choose hosts for a walk, from the strictest to the one that takes all."""
    largest = int(ground.size.max())
    units = sorted((u for u in {walk.width, walk.tile, walk.stages * walk.width, grid.row, walk.stages * grid.row} if u <= largest), reverse=True) or [walk.width]
    quotas = [1] if ground.pods == 1 else sorted({walk.width, walk.stages * walk.width, grid.pipeline * walk.width, grid.row, walk.stages * grid.row}, reverse=True)
    chunks = sorted({0, walk.tile // 2 if walk.tile % 2 == 0 else 0, walk.width, walk.width // 2 if walk.width % 2 == 0 else 0, grid.tensor})
    out = []
    for unit in units:
        for quota in quotas:
            for chunk in [c for c in chunks if c < unit]:
                for group in sorted({1, unit if chunk else 1, walk.width if chunk else 1}):
                    out += [Rule(unit, quota, chunk, group, turn, spare) for spare in (False, True) for turn in get_args(Turn)]
    return out
