"""Dragonflies: rectangles of the grid dealt to groups so that no two neighbours of a group get more than their share of its flows.

Two groups are joined by few links, and packets take them: laid side by side, all rings of a group go on to the same other group. So the
grid is cut into tiles of ``stages`` x ``width`` nodes, each group gets several that lie apart, and their neighbours, along the rings and
along the pipelines, are all other groups in turn. The deal starts from a row-complete square, in which each group follows each other at
most once (Williams, Experimental designs balanced for the estimation of residual effects of treatments, 1949), and is mended by
exchanges where links are still crowded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import lcm

import numpy as np
from numpy.typing import NDArray

from iacgen.training.traffic import NodeGrid, Traffic

from ..model import Family
from ..tiers import Tiers
from .shards import by_group, traffic_by_group
from .walks import divisors, walks

Order = NDArray[np.int64]
SHAPES = 6  # of tiles that are tried, best promise first
TRIES, MOST = 300, 30_000  # exchanges at most: for each tile, and for all of a shape


def spread(tiers: Tiers, grid: NodeGrid, traffic: Traffic, exposed: Mapping[Family, float]) -> Iterator[Order]:
    """Orders, in the sense of ``cost``, for groups of the top tier that are joined two by two; none for other fabrics."""
    if tiers.pair_Bps is None:
        return
    yield from _dealt_out(tiers, grid, traffic, exposed)
    if grid.pipeline == 1 and (groups := by_group(grid)):
        yield from _dealt_out(tiers, groups, *traffic_by_group(traffic, exposed))


def _dealt_out(tiers: Tiers, grid: NodeGrid, traffic: Traffic, exposed: Mapping[Family, float]) -> Iterator[Order]:
    assert tiers.pair_Bps is not None
    labels = tiers.labels[-1]
    sizes = np.bincount(labels, minlength=len(tiers.groups[-1]))
    pair = float(tiers.pair_Bps[np.isfinite(tiers.pair_Bps)].min())
    found = []
    for stages, width in _shapes(grid):
        room = sizes // (stages * width)
        tiles = (grid.pipeline // stages) * (grid.row // width)
        if room.sum() >= tiles:
            found.append((_promise(tiers, grid, traffic, exposed, stages, width, int((room > 0).sum()), pair), stages, width))
    for _, stages, width in sorted(found)[:SHAPES]:
        deal = _Deal(tiers, grid, traffic, exposed, stages, width, sizes // (stages * width), pair)
        even = deal.mend()
        yield _order(tiers, grid, deal, np.lexsort((np.arange(tiers.hosts), tiers.joined, *tiers.labels)))
        if tiers.ways is not None:
            yield _order(tiers, grid, deal, _over_leaves(tiers))
        elif even:  # no other shape promises more; links inside groups, where they count, may
            return


def _shapes(grid: NodeGrid) -> list[tuple[int, int]]:
    least = lcm(grid.apart, grid.tensor * grid.context, grid.expert)
    return [(stages, least * n) for stages in divisors(grid.pipeline) for n in divisors(grid.row // least)]


def _slow(tiers: Tiers, traffic: Traffic) -> tuple[float, float]:
    rate = float(tiers.flow_Bps[-1])
    return traffic.data / rate, traffic.pipeline / rate


def _promise(tiers: Tiers, grid: NodeGrid, traffic: Traffic, exposed: Mapping[Family, float], stages: int, width: int, groups: int, pair: float) -> float:
    """Seconds when the bundles of a tile are spread as evenly as can be."""
    rows, columns = grid.pipeline // stages, grid.row // width
    links = max(1, groups * (groups - 1))
    rings = -(-rows * columns // links) if columns > 1 else 0
    chains = -(-2 * (rows - 1) * columns // links) if rows > 1 else 0
    slow_dp, slow_pp = _slow(tiers, traffic)
    return exposed["dp"] * max(slow_dp, rings * stages * grid.apart * traffic.data / pair) + exposed["pp"] * max(slow_pp, chains * width * traffic.pipeline / pair)


class _Deal:
    """Tiles, rows by columns, each with its group, and how many bundles go from each group to each other: along rings in
    ``load[0]``, along pipelines, both ways, in ``load[1]``."""

    def __init__(self, tiers: Tiers, grid: NodeGrid, traffic: Traffic, exposed: Mapping[Family, float], stages: int, width: int, room: Order, pair: float) -> None:
        self.stages, self.width = stages, width
        self.rows, self.columns = grid.pipeline // stages, grid.row // width
        self.closed = traffic.pipeline_ring and grid.pipeline > 2
        volumes = (stages * grid.apart * traffic.data / pair, width * traffic.pipeline / pair)
        self.weights = tuple(exposed[name] * volume for name, volume in zip(("dp", "pp"), volumes, strict=True))
        self.free = tuple(max(1, int(slow / volume + 1e-9)) if volume else 1 << 30 for slow, volume in zip(_slow(tiers, traffic), volumes, strict=True))
        self.group = _dealt(self.rows, self.columns, room)
        many = len(room)
        self.load = [[[0] * many for _ in range(many)] for _ in range(2)]
        for kind, one, other in self._all_edges():
            self._count(kind, self._at(one), self._at(other), 1)

    def _at(self, tile: tuple[int, int]) -> int:
        return self.group[tile[0]][tile[1]]

    def _all_edges(self) -> Iterator[tuple[int, tuple[int, int], tuple[int, int]]]:
        for i in range(self.rows):
            for j in range(self.columns):
                if self.columns > 1:
                    yield 0, (i, j), (i, (j + 1) % self.columns)
                if i + 1 < self.rows or (self.closed and self.rows > 1):
                    yield 1, (i, j), ((i + 1) % self.rows, j)

    def _edges(self, i: int, j: int) -> Iterator[tuple[int, tuple[int, int], tuple[int, int]]]:
        if self.columns > 1:
            yield 0, (i, j), (i, (j + 1) % self.columns)
            yield 0, (i, (j - 1) % self.columns), (i, j)
        if i + 1 < self.rows or (self.closed and self.rows > 1):
            yield 1, (i, j), ((i + 1) % self.rows, j)
        if i or (self.closed and self.rows > 1):
            yield 1, ((i - 1) % self.rows, j), (i, j)

    def _count(self, kind: int, one: int, other: int, n: int) -> float:
        """Count a bundle, or take it back; returns by how much what is beyond the free share grows, squared and weighed."""
        if one == other:
            return 0.0
        more = 0.0
        for a, b in ((one, other), (other, one))[: kind + 1]:
            row = self.load[kind][a]
            before = max(0, row[b] - self.free[kind])
            row[b] += n
            more += max(0, row[b] - self.free[kind]) ** 2 - before**2
        return more * self.weights[kind]

    def mend(self) -> bool:
        """Exchange tiles of crowded links with any others, as long as that does not crowd more; whether no link is crowded in the end."""
        dice = _dice()
        tries = min(MOST, TRIES * self.rows * self.columns)
        crowded = self._crowded()
        while crowded and tries:
            tries -= 1
            one = crowded[next(dice) % len(crowded)]
            other = next(dice) % self.rows, next(dice) % self.columns
            if self._at(one) != self._at(other) and self._exchange(one, other) < 0:
                crowded = self._crowded()
        return not crowded

    def _crowded(self) -> list[tuple[int, int]]:
        found = []
        for kind, one, other in self._all_edges():
            a, b = self._at(one), self._at(other)
            if a != b and (self.load[kind][a][b] > self.free[kind] or (kind and self.load[kind][b][a] > self.free[kind])):
                found += [one, other]
        return found

    def _exchange(self, one: tuple[int, int], other: tuple[int, int]) -> float:
        """Let two tiles change groups if no more is then crowded; returns by how much."""
        edges = dict.fromkeys((*self._edges(*one), *self._edges(*other)))
        more = sum(self._count(kind, self._at(a), self._at(b), -1) for kind, a, b in edges)
        self._swap(one, other)
        more += sum(self._count(kind, self._at(a), self._at(b), 1) for kind, a, b in edges)
        if more > 1e-15:
            for kind, a, b in edges:
                self._count(kind, self._at(a), self._at(b), -1)
            self._swap(one, other)
            for kind, a, b in edges:
                self._count(kind, self._at(a), self._at(b), 1)
            return 0.0
        return more

    def _swap(self, one: tuple[int, int], other: tuple[int, int]) -> None:
        (a, b), (c, d) = one, other
        self.group[a][b], self.group[c][d] = self.group[c][d], self.group[a][b]


def _dice() -> Iterator[int]:
    """Numbers below 2**31, the same ones at all times: the upper bits of Knuth's linear congruential generator (MMIX)."""
    state = 1
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield state >> 33


def _dealt(rows: int, columns: int, room: Order) -> list[list[int]]:
    """The square, over groups that have room; where one is full, the next that is not."""
    left = room.copy()
    groups = [int(g) for g in np.argsort(-room, kind="stable") if room[g] > 0]
    many = len(groups)
    zigzag = [(k + 1) // 2 if k % 2 else (many - k // 2) % many for k in range(many)]
    out = []
    for i in range(rows):
        row = []
        for j in range(columns):
            at = (zigzag[j % many] + zigzag[i % many] + j // many + i // many) % many
            while not left[groups[at]]:
                at = (at + 1) % many
            left[groups[at]] -= 1
            row.append(groups[at])
        out.append(row)
    return out


def in_turn(tiers: Tiers, grid: NodeGrid) -> Iterator[Order]:
    """Orders for a dragonfly whose single links count: two routers of a group are joined by one link, and groups often by many, so that
    neighbours are better off in different groups. Leaves, or single hosts, of the groups one after the other, along every walk."""
    if tiers.ways is None:
        return
    hosts = np.arange(tiers.hosts)
    leaf, group = tiers.labels[0], tiers.labels[-1]
    nth_leaf = leaf - np.array([leaf[group == g].min(initial=0) for g in range(len(tiers.groups[-1]))])[group]
    for sequence in (np.lexsort((hosts, leaf, group, nth_leaf)), np.lexsort((hosts, group, _turns(hosts, group)))):
        for walk in walks(grid):
            if walk.inner == walk.stages:
                order = np.empty(grid.nodes, dtype=np.int64)
                order[walk.cells(grid, np.array([grid.nodes]))] = sequence[: grid.nodes]
                yield order
    yield from _chequered(tiers, grid)


def _chequered(tiers: Tiers, grid: NodeGrid) -> Iterator[Order]:
    """Neighbours along rings and along pipelines in different groups, as on a chequerboard of as many colours as there are groups."""
    leaf, sizes = tiers.labels[0], np.bincount(tiers.labels[-1])
    used = np.flatnonzero(sizes)
    used = used[np.argsort(-sizes[used], kind="stable")]
    p, column = np.divmod(np.arange(grid.nodes), grid.row)
    for width in sorted({walk.width for walk in walks(grid)}):
        broken = (np.bincount(leaf) % width > 0)[leaf]  # leaves that do not hold whole units come last
        hosts = np.lexsort((np.arange(tiers.hosts), leaf, broken, tiers.labels[-1]))
        first = np.searchsorted(tiers.labels[-1][hosts], used)
        colour = (p + column // width) % len(used)
        if (np.bincount(colour, minlength=len(used)) <= sizes[used]).all():
            yield hosts[first[colour] + _turns(np.arange(grid.nodes), colour)]


def _turns(hosts: Order, group: Order) -> Order:
    """The place of each host among those of its group."""
    by_group = np.lexsort((hosts, group))
    out = np.empty(len(hosts), dtype=np.int64)
    out[by_group] = np.arange(len(hosts)) - np.searchsorted(group[by_group], group[by_group])
    return out


def _over_leaves(tiers: Tiers) -> Order:
    """Group by group, one host of each leaf in turn."""
    by_leaf = np.lexsort((np.arange(tiers.hosts), tiers.labels[0]))
    leaf = tiers.labels[0][by_leaf]
    turn = np.empty(tiers.hosts, dtype=np.int64)
    turn[by_leaf] = np.arange(tiers.hosts) - np.searchsorted(leaf, leaf)
    return np.lexsort((tiers.labels[0], turn, tiers.labels[-1]))


def _order(tiers: Tiers, grid: NodeGrid, deal: _Deal, hosts: Order) -> Order:
    """Tiles of a group take its hosts in that sequence."""
    first = np.searchsorted(tiers.labels[-1][hosts], np.arange(len(tiers.groups[-1])))
    order = np.empty((deal.rows, deal.stages, deal.columns, deal.width), dtype=np.int64)
    size = deal.stages * deal.width
    for i in range(deal.rows):
        for j in range(deal.columns):
            group = deal.group[i][j]
            order[i, :, j] = hosts[first[group] : first[group] + size].reshape(deal.stages, deal.width)
            first[group] += size
    return order.reshape(grid.nodes)
