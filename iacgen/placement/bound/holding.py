"""The least time at which the sets of one tier can hold a job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iacgen.training.traffic import NodeGrid

from ..model import Family
from .grid import NONE, columns_cut, shards_cut
from .sets import Cut, Kind

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_PRICES = 24
_HALVINGS = 60
_ROUND = 1 + 1e-12


@dataclass(frozen=True)
class Holding:
    """What is known of a job at one tier: families ``inside`` do not cross it, so that sets hold multiples of ``unit`` nodes of a row
    (and whole columns where ``columns_whole``). ``closed``: columns are rings."""

    grid: NodeGrid
    unit: int
    columns_whole: bool
    inside: frozenset[Family]
    volume: Mapping[Family, float]
    weight: Mapping[Family, float]
    slow_s: Mapping[Family, float]
    closed: bool


@dataclass(frozen=True)
class Least:
    """A time below which the sets cannot hold the job, the set and the words that say why."""

    seconds: float
    switch: str | None
    why: str


@dataclass(frozen=True)
class _Ways:
    """Ways in which one kind of set can hold nodes: arrays of equal length, one entry a way. ``columns`` are the node columns cut."""

    kind: Kind
    nodes: Ints
    columns: Ints
    rest_s: Floats  # all families but pipelines
    edge_s: float  # of one column edge that leaves, over the uplink
    seconds: Floats


def least_time(job: Holding, cut: Cut, base: float, limit: float) -> Least:
    """The least time at which the sets of ``cut`` hold all nodes; no better than ``base``, and not looked for beyond ``limit``."""
    ways = [_ways(job, cut, kind) for kind in cut.kinds]
    times = np.unique(np.concatenate([w.seconds for w in ways]))
    times = times[np.isfinite(times)]
    low, high = 0, len(times)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _held(ways, times[middle]) >= job.grid.nodes else (middle + 1, high)
    if low == len(times):
        return Least(np.inf, None, "the sets of this tier cannot hold it")
    simple = float(times[low])
    tight = simple if simple >= limit else _both_sides(job, ways, cut, simple, limit)
    seconds = max(tight, base)
    return Least(seconds, _setter(ways, seconds), "pipelines leave middle stages on both sides" if tight > simple * _ROUND else "the bytes that leave it")


def _held(ways: list[_Ways], tau: float) -> int:
    return sum(w.kind.count * int(w.nodes[w.seconds <= tau * _ROUND].max(initial=0)) for w in ways)


def _setter(ways: list[_Ways], seconds: float) -> str | None:
    """The kind of set that could hold more if there were more time."""
    for w in ways:
        if w.seconds.max(initial=0.0) > seconds and w.edge_s >= 0:
            return w.kind.name
    return ways[0].kind.name if ways else None


def _ways(job: Holding, cut: Cut, kind: Kind) -> _Ways:
    grid, unit = job.grid, job.unit
    count = np.arange(min(kind.hosts, grid.nodes) // unit + 1)
    if job.columns_whole:
        count = count[count % grid.pipeline == 0]
    n, y, rings, shards = _cut(job, count)
    if job.columns_whole:
        keep = y == 0
        n, y, rings, shards = n[keep], y[keep], rings[keep], shards[keep]
    rest = _over(job, "dp", rings, kind, cut, grid.apart if unit % grid.apart == 0 else grid.tensor)
    if "fs" in job.volume:
        rest = rest + _over(job, "fs", shards, kind, cut, grid.tensor)
    if "cp" in job.volume:
        rest = rest + _over(job, "cp", np.where(n % (grid.context * grid.tensor), grid.tensor, 0), kind, cut, grid.tensor)
    if "ep" in job.volume:
        part = n % grid.expert
        rest = rest + _over(job, "ep", part * (grid.expert - part) / (grid.expert - 1), kind, cut, 0)
    edges = y * (2 if job.closed else 1)
    seconds = rest + _over(job, "pp", edges, kind, cut, unit)
    edge_s = job.weight["pp"] * job.volume["pp"] / kind.uplink_Bps if "pp" in job.volume else 0.0
    return _Ways(kind, n, y, rest, edge_s, seconds)


def _cut(job: Holding, count: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Ways to hold ``count`` units, one entry a way: the nodes held, node columns cut, edges of data rings and of shard groups that leave.

    A cut row has a data ring that leaves; and one of each of its places where rings go between shard groups and none of these is cut. Where
    no such ring is cut, a cut row has all of its shard groups cut. In a job of one row shard groups and the rings between them are rows and
    columns of a grid of their own.
    """
    grid, unit = job.grid, job.unit
    if grid.pipeline == 1 and grid.shard > 1:
        at, shards, rings = shards_cut(grid.shard, grid.copies, count * unit // grid.tensor)
        keep = ((rings == 0) | ("dp" not in job.inside)) & ((shards == 0) | ("fs" not in job.inside))
        return count[at[keep]] * unit, 0 * at[keep], rings[keep] * grid.tensor, shards[keep] * grid.tensor
    columns = columns_cut(grid.row // unit, grid.pipeline, count)
    at, x = np.nonzero(columns < NONE)
    n = count[at] * unit
    rings, shards = x * grid.apart if unit % grid.apart == 0 else 0 * x, np.where(n % grid.apart, grid.tensor, 0)
    if grid.shard > 1 and "dp" in job.inside:
        ring = grid.copies * grid.tensor
        rings, shards = np.where(n % ring, NONE, 0), np.where(n % grid.row, ring, 0)
    keep = rings < NONE
    return n[keep], columns[at, x][keep] * unit, rings[keep], shards[keep]


def _over(job: Holding, family: Family, edges: NDArray, kind: Kind, cut: Cut, bundle: int) -> Floats:
    """Exposed seconds of a family of which so many edges leave a set: over its uplinks, and never less than its slowest flow. Where two
    sets are joined directly, over the busiest of the links to the others as well: edges come in bundles that go to one set together
    (0: in any part), and one link has at least the mean of the bundles."""
    if family not in job.volume:
        return np.zeros(len(edges))
    if family in job.inside:
        edges = np.zeros(len(edges))
    seconds = np.maximum(edges * job.volume[family] / kind.uplink_Bps, job.slow_s[family])
    if cut.pair_Bps is not None and cut.sets > 1:
        each = np.ceil(edges / bundle / (cut.sets - 1)) * bundle if bundle else edges / (cut.sets - 1)
        seconds = np.maximum(seconds, each * job.volume[family] / cut.pair_Bps)
    return job.weight[family] * seconds


def _both_sides(job: Holding, ways: list[_Ways], cut: Cut, low: float, limit: float) -> float:
    """The same with this count: of cut columns all sets together have at least twice the edges, less one pair a column of the grid.

    With l edges out of a set that cuts y columns, the sum of 2 y - l over all sets is at most twice the columns. A price on what a set
    lacks, 2 y - l, turns the count of nodes into one of each set alone; the least over prices is still no fewer than there can be.
    """
    if "pp" not in job.volume or "pp" in job.inside or job.closed or low >= limit:
        return low
    high = limit if np.isfinite(limit) else _most(ways)
    if not np.isfinite(high) or not _fits(job, ways, high):
        return high
    if _fits(job, ways, low * _ROUND):
        return low
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if _fits(job, ways, middle) else (middle, high)
        if high - low <= 1e-10 * high:
            break
    return low


def _most(ways: list[_Ways]) -> float:
    return max(float(np.max(w.seconds[np.isfinite(w.seconds)], initial=0.0) + 2 * w.columns.max(initial=0) * w.edge_s) for w in ways)


def _fits(job: Holding, ways: list[_Ways], tau: float) -> bool:
    """Whether sets can hold the job within ``tau``, at every price tried."""
    grid, slack = job.grid, 2 * job.grid.row
    lacking = []
    for w in ways:
        can = w.seconds <= tau
        nodes, columns, room = w.nodes[can], w.columns[can], tau - w.rest_s[can]
        if w.edge_s:
            edges = np.floor(room / (w.edge_s * job.unit) * _ROUND) * job.unit
            lacks = np.maximum(0.0, 2.0 * columns - np.maximum(edges, columns))
        else:
            lacks = np.zeros(len(nodes))
        lacking.append((w.kind.count, nodes, lacks))
    for price in _prices(job):
        held = price * slack + sum(count * float((nodes - price * lacks).max(initial=0.0)) for count, nodes, lacks in lacking)
        if held < grid.nodes - 1e-6:
            return False
    return True


def _prices(job: Holding) -> list[float]:
    """Nodes for an edge that lacks: from none to a whole column for each, and around what whole rows cost."""
    rows = job.grid.pipeline
    return [0.0, *(rows * 2.0 ** -(i / 2) for i in range(_PRICES)), *(i / 4 for i in range(1, 9))]
