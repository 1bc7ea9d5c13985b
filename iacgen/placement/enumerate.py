"""The best of all placements of a small job, by trying every one that differs from the others.

What it costs is said again here for many placements at once, in the words of ``cost``, which scores one: arrays have the placement as their
second axis, and no loop goes over placements.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from iacgen.training.traffic import NodeGrid, Traffic

from .assumptions import EXPOSED
from .bins import Bins, bins
from .cost import Order, cost
from .model import Cost, Family
from .tiers import Rates, Tiers
from .ways import Ways

MOST = 200_000
"""Assignments that are tried at most."""
CELLS = 4_000_000
"""Virtual nodes of all assignments together at most, so that time and memory stay about a second and 100 MB."""
_ENTRIES = 40_000_000
"""The same of entries of the ways over single links."""
_BATCH = 400_000
"""Cells that are scored at once."""
_SAME = 1e-9
"""Times within this share of each other count as equal: then the fewest bytes decide."""

Assigned = NDArray[np.int32]
Flows = tuple[Rates, list[Rates], list[Rates]]
"""Of each placement, of one family: seconds of its slowest flows; bytes that leave each group, tier by tier; bytes from each group of the top
tier to each, where these are joined two by two, and over each single link, where these are known."""


def enumerated(tiers: Tiers, grid: NodeGrid, traffic: Traffic, exposed: Mapping[Family, float] = EXPOSED, most: int = MOST) -> tuple[Order, Cost] | None:
    """(order, cost) of a placement that no other beats, or None when there are more than ``most`` that differ.

    Those that mix the fewest stages of two GPU types come before all others. Of equally fast ones the one that sends the fewest bytes over
    switches, upper tiers first, then the first one in the order of the fabric.
    None as well when no placement keeps each tensor group to one NVLink domain, or there are fewer hosts than virtual nodes.
    """
    held = bins(tiers)
    assigned = assignments(held, grid, most if tiers.ways is None else min(most, _ENTRIES // max(1, len(tiers.ways.pair))))
    if assigned is None or not len(assigned):
        return None
    stages = held.kind[assigned].reshape(len(assigned), grid.pipeline, grid.row)
    mixed = (stages != stages[:, :, :1]).any(axis=2).sum(axis=1)
    assigned = assigned[mixed == mixed.min()]
    seconds = scores_of(tiers, held, grid, traffic, exposed, assigned)[0]
    close = assigned[seconds <= seconds.min() * (1 + _SAME)]
    moved = scores_of(tiers, held, grid, traffic, exposed, close)[1]
    digits = np.round(moved / max(float(moved.max()), 1e-300), 9)  # so that the order of a sum decides nothing
    order = held.order(close[np.lexsort(digits.T)[0]])
    return order, cost(tiers, grid, traffic, order, exposed)


def room(held: Bins, tensor: int) -> int:
    """Virtual nodes that find a host when each ``tensor`` of them share an NVLink domain."""
    if tensor == 1:
        return int(held.sizes.sum())
    return sum(int(held.sizes[held.domain == d].sum()) // tensor * tensor for d in np.unique(held.domain) if d >= 0)


def assignments(held: Bins, grid: NodeGrid, most: int = MOST) -> Assigned | None:
    """All assignments of virtual nodes to bins that cost may tell apart, one a row; None when there are more than ``most``, or they hold more
    than ``CELLS`` cells.

    Node by node, each beginning of an assignment by all bins with a free host; of bins that are twins the earlier is opened first. A
    tensor group opens a domain that has room for it. So no beginning is a dead end, and there are never fewer of them than before.
    """
    limit = min(most, CELLS // max(grid.nodes, len(held.hosts)))
    sizes, domains = held.sizes, held.domain
    if room(held, grid.tensor) < grid.nodes:
        return np.empty((0, grid.nodes), dtype=np.int32)
    if len(sizes) == 1:
        return np.zeros((1, grid.nodes), dtype=np.int32)
    begun, used = np.empty((1, 0), dtype=np.int32), np.zeros((1, len(sizes)), dtype=np.int32)
    for node in range(grid.nodes):
        row, b = np.nonzero(_free(held, grid, begun, used, node))
        if len(row) > limit:
            return None
        begun, used = np.column_stack([begun[row], b.astype(np.int32)]), used[row]
        used[np.arange(len(b)), b] += 1
    return begun


def _free(held: Bins, grid: NodeGrid, begun: Assigned, used: Assigned, node: int) -> NDArray[np.bool_]:
    """For each beginning, which bins may hold the next node."""
    free = used < held.sizes
    for later, earlier in held.twins:
        free[np.ix_(~used[:, later].any(axis=1) & ~used[:, earlier].any(axis=1), later)] = False
    if grid.tensor > 1:
        if node % grid.tensor:
            return free & (held.domain[begun[:, -1:]] == held.domain)
        same = (held.domain[:, None] == held.domain) & (held.domain >= 0)
        return free & ((held.sizes - used) @ same >= grid.tensor)
    return free


def scores_of(tiers: Tiers, held: Bins, grid: NodeGrid, traffic: Traffic, exposed: Mapping[Family, float], assigned: Assigned) -> tuple[Rates, Rates, Rates]:
    """Of each assignment of virtual nodes to bins, one a row: exposed seconds, bytes that leave the groups of each tier, and how
    crowded it is: the eighth mean of all loads and members where seconds count the largest, so that it falls before these do."""
    joints = [0 if tiers.pair_Bps is None else tiers.pair_Bps.size, 0 if tiers.ways is None else max(tiers.ways.leaves**2, len(tiers.ways.ends))]
    step = max(1, _BATCH // max(grid.nodes, *joints))
    parts = [_batch(tiers, held, grid, traffic, exposed, assigned[i : i + step]) for i in range(0, len(assigned), step)]
    seconds, moved, crowd = (np.concatenate(part) for part in zip(*parts, strict=True))
    return seconds, moved, crowd


def _batch(tiers: Tiers, held: Bins, grid: NodeGrid, traffic: Traffic, exposed: Mapping[Family, float], assigned: Assigned) -> tuple[Rates, Rates, Rates]:
    own = int(held.domain.max()) + 1 + np.arange(grid.nodes)  # a host that shares its NVLink domain with none
    joined = np.where(held.domain[assigned] < 0, own, held.domain[assigned])
    placed = np.stack([joined, *held.labels[:, assigned]])
    total, crowd, moved = np.zeros(len(assigned)), np.zeros(len(assigned)), np.zeros((len(assigned), len(tiers.names)))
    stages = placed.reshape(len(placed), len(assigned), grid.pipeline, grid.row)
    found: list[tuple[Family, Flows]] = []
    if traffic.data and grid.copies > 1:
        found.append(("dp", _rings(tiers, traffic.data, grid.copies, grid.apart, placed)))
    if traffic.pipeline and grid.pipeline > 1:
        found.append(("pp", _columns(tiers, traffic.pipeline, traffic.pipeline_ring and grid.pipeline > 2, stages)))
    if traffic.context and grid.context > 1:
        found.append(("cp", _rings(tiers, traffic.context, grid.context, grid.tensor, placed)))
    if traffic.expert and grid.expert > 1:
        found.append(("ep", _all_to_all(tiers, traffic.expert, grid.expert, placed)))
    if traffic.shard and grid.shard > 1:
        found.append(("fs", _rings(tiers, traffic.shard, grid.shard, grid.tensor, placed)))
    links = [*tiers.uplink_Bps, *([] if tiers.pair_Bps is None else [tiers.pair_Bps.ravel()]), *([] if tiers.ways is None else [np.array(tiers.ways.Bps)])]
    for family, (members, leaving, pairs) in found:
        loads = [members, *(sent / link for sent, link in zip(leaving + pairs, links, strict=True))]
        total += exposed[family] * np.max([load.max(axis=1) for load in loads], axis=0)
        crowd += exposed[family] * np.sum([np.square(np.square(np.square(load))).sum(axis=1) for load in loads], axis=0) ** 0.125
        moved += np.stack([left.sum(axis=1) for left in leaving], axis=1)
    return total, moved, crowd


def _rings(tiers: Tiers, volume: float, size: int, stride: int, placed: NDArray[np.int64]) -> Flows:
    """Rings over ``size`` nodes, ``stride`` apart."""
    start = placed.reshape(*placed.shape[:2], -1, size, stride).swapaxes(3, 4)
    end = np.roll(start, -1, axis=-1)
    far, crossed = _crossed(start, end)
    pairs = [volume * count for count in _direct(tiers, start, end, crossed)]
    leaving = [volume * _counts(tiers, k, start[k + 1], apart) for k, apart in enumerate(crossed)]
    most = far.sum(axis=-1).max(axis=(1, 2))
    rate = tiers.flow_Bps[_level(crossed)] * (size / np.maximum(most, 1))
    return (volume / np.where(most > 0, np.minimum(rate, tiers.nvlink_Bps), tiers.nvlink_Bps))[:, None], leaving, pairs


def _columns(tiers: Tiers, volume: float, closed: bool, stages: NDArray[np.int64]) -> Flows:
    """Columns, ``volume`` bytes each way on each edge."""
    start, end = (stages, np.roll(stages, -1, axis=2)) if closed else (stages[:, :, :-1], stages[:, :, 1:])
    far, crossed = _crossed(start, end)
    leaving = [volume * (_counts(tiers, k, start[k + 1], apart) + _counts(tiers, k, end[k + 1], apart)) for k, apart in enumerate(crossed)]
    back = _direct(tiers, end, start, crossed)
    pairs = [volume * (count + other) for count, other in zip(_direct(tiers, start, end, crossed), back, strict=True)]
    return (volume / np.where(far.any(axis=(1, 2)), tiers.flow_Bps[_level(crossed)], tiers.nvlink_Bps))[:, None], leaving, pairs


def _all_to_all(tiers: Tiers, volume: float, size: int, placed: NDArray[np.int64]) -> Flows:
    """Exchanges between ``size`` consecutive nodes, ``volume`` bytes from each."""
    share = volume / (size - 1)
    member = placed.reshape(*placed.shape[:2], -1, size)
    start, end = (np.broadcast_to(ends, (*member.shape, size)) for ends in (member[..., :, None], member[..., None, :]))
    far, crossed = _crossed(start, end)
    seconds = np.where(far, share / tiers.flow_Bps[0], share / tiers.nvlink_Bps)
    for k, apart in enumerate(crossed):
        seconds[apart] = share / tiers.flow_Bps[k + 1]
    seconds[..., np.arange(size), np.arange(size)] = 0.0
    leaving = [share * _counts(tiers, k, start[k + 1], apart) for k, apart in enumerate(crossed)]
    pairs = [share * count for count in _direct(tiers, start, end, crossed)]
    return seconds.sum(axis=-1).reshape(len(seconds), -1), leaving, pairs


def _crossed(start: NDArray[np.int64], end: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    apart = start != end
    return apart[0], apart[1:] & apart[:1]


def _level(crossed: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Of each placement the highest tier that an edge crosses, counted from 1; 0 for none."""
    tier = np.arange(1, len(crossed) + 1)[:, None]
    return (tier * crossed.reshape(*crossed.shape[:2], -1).any(axis=2)).max(axis=0)


def _direct(tiers: Tiers, start: NDArray[np.int64], end: NDArray[np.int64], crossed: NDArray[np.bool_]) -> list[Rates]:
    """Of each placement, where the groups of the top tier are joined two by two: how many crossings go from each to each; and where single
    links are known: over each of them."""
    out = []
    if tiers.pair_Bps is not None:
        out.append(_tally(start[-1] * len(tiers.pair_Bps) + end[-1], tiers.pair_Bps.size, crossed[-1]))
    if tiers.ways is not None:
        sent = _tally(start[1] * tiers.ways.leaves + end[1], tiers.ways.leaves**2, crossed[0])
        out.append(_over_links(tiers.ways, sent))
    return out


def _over_links(ways: Ways, sent: Rates) -> Rates:
    """Of each placement, the crossings on each link, given those from leaf to leaf: by entries of ``ways`` between leaves that send."""
    kept = np.flatnonzero(sent.any(axis=0)[ways.pair])
    pair, link, share, links = ways.pair[kept], ways.link[kept], ways.share[kept], len(ways.ends)
    step, out = max(1, _BATCH // max(1, len(kept))), []
    for part in (sent[i : i + step] for i in range(0, len(sent), step)):
        key = link + links * np.arange(len(part))[:, None]
        out.append(np.bincount(key.ravel(), (share * part[:, pair]).ravel(), links * len(part)).reshape(-1, links))
    return np.concatenate(out)


def _counts(tiers: Tiers, tier: int, labels: NDArray[np.int64], crossed: NDArray[np.bool_]) -> Rates:
    """Of each placement, how many crossings begin in each group of a tier."""
    return _tally(labels, len(tiers.groups[tier]), crossed)


def _tally(labels: NDArray[np.int64], groups: int, crossed: NDArray[np.bool_]) -> Rates:
    key = labels + groups * np.arange(len(labels)).reshape(-1, *[1] * (labels.ndim - 1))
    return np.bincount(key[crossed], minlength=groups * len(labels)).reshape(len(labels), groups).astype(np.float64)
