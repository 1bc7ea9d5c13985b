"""What one order of hosts costs: communication cost of a step, by family.

T = sum over families of x * max(max over switch groups S of load(S) / uplink(S), slowest), with x the exposed share. ``slowest``
is bytes / rate of the farthest edge for a ring or chain (one bad edge slows the step), the worst member's sum for an
all-to-all; what stays in an NVLink domain of several hosts runs at its rate and crosses no switch. Groups of ranks: rows are data
rings, neighbours in a row context rings, shard groups or expert groups, columns pipelines (see ``NodeGrid``); where a row has several shard
groups, its data rings go through those that stand in the same place in each. Links of a tree carry each family's
bytes as counted at the groups they leave; where the groups of the top tier are joined two by two, as in a dragonfly, each such link
counts too, with the bytes that go straight from one of its groups to the other: packets take the shortest way; and so does every
link of a planned dragonfly (``ways``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from iacgen.training.traffic import NodeGrid, Traffic

from .assumptions import EXPOSED
from .model import Cost, Family, FamilyCost
from .tiers import Labels, Tiers

Order = NDArray[np.int64]
Domains = NDArray[np.int64] | None


@dataclass(frozen=True)
class _Flows:
    """A family's flows on one placement: bytes leaving each group by tier, slowest flow, its tier (0: none crossed), whether all stay in
    their NVLink domains; where top groups are joined two by two, the bytes from each to each; where single links are known, the bytes on each."""

    leaving: tuple[NDArray[np.float64], ...]
    slowest_s: float
    level: int
    entries: int = 0
    inside: bool = False
    pairs: NDArray[np.float64] | None = None
    links: NDArray[np.float64] | None = None


def cost(tiers: Tiers, grid: NodeGrid, traffic: Traffic, order: Order, exposed: Mapping[Family, float] = EXPOSED) -> Cost:
    """Cost of placing virtual node v on host ``order[v]`` (an index into ``tiers.labels``).

    Raises ValueError when the order is not one host for each virtual node, or an expert group is no part of a row.
    """
    if order.shape != (grid.nodes,) or np.bincount(order, minlength=1).max() > 1:
        raise ValueError(f"an order of {grid.nodes} different hosts is needed")
    if grid.row % grid.expert:
        raise ValueError(f"{grid.expert} nodes of an expert group do not divide a row of {grid.row}")
    if not whole(tiers, grid, order):
        raise ValueError("a tensor group lies in two NVLink domains")
    placed = tiers.labels.take(order, axis=1)  # ten times as fast as an index
    domain = None if tiers.domain is None else tiers.domain[order]
    families = (_family(tiers, name, exposed[name], flows(placed, domain)) for name, flows in _families(tiers, grid, traffic))
    return Cost(tiers.names, tuple(families))


def whole(tiers: Tiers, grid: NodeGrid, order: Order) -> bool:
    """Whether the nodes of each tensor group are of one NVLink domain."""
    groups = tiers.joined[order].reshape(-1, grid.tensor)
    return grid.tensor == 1 or bool((groups == groups[:, :1]).all())


def _families(tiers: Tiers, grid: NodeGrid, traffic: Traffic) -> list[tuple[Family, Callable[[Labels, Domains], _Flows]]]:
    """The families that leave the node, each with the function that counts its flows on the labels and NVLink domains of the virtual
    nodes. Rings go through the nodes of one position in their tensor groups."""
    out: list[tuple[Family, Callable[[Labels, Domains], _Flows]]] = []
    if traffic.data and grid.copies > 1:
        out.append(("dp", partial(_rings, tiers, traffic.data, grid.copies, grid.apart)))
    if traffic.pipeline and grid.pipeline > 1:
        out.append(("pp", partial(_columns, tiers, traffic.pipeline, grid.row, traffic.pipeline_ring and grid.pipeline > 2)))
    if traffic.context and grid.context > 1:
        out.append(("cp", partial(_rings, tiers, traffic.context, grid.context, grid.tensor)))
    if traffic.expert and grid.expert > 1:
        out.append(("ep", partial(_all_to_all, tiers, traffic.expert, grid.expert)))
    if traffic.shard and grid.shard > 1:
        out.append(("fs", partial(_rings, tiers, traffic.shard, grid.shard, grid.tensor)))
    return out


def _family(tiers: Tiers, name: Family, exposed: float, flows: _Flows) -> FamilyCost:
    congestion, busiest = 0.0, None
    for tier, leaving in enumerate(flows.leaving):
        load = leaving / tiers.uplink_Bps[tier]
        group = int(load.argmax())
        if load[group] > congestion:
            congestion, busiest = float(load[group]), tiers.groups[tier][group]
    if flows.pairs is not None:
        assert tiers.pair_Bps is not None
        load = flows.pairs / tiers.pair_Bps
        one, other = divmod(int(load.argmax()), len(load))
        if load[one, other] > congestion:
            congestion, busiest = float(load[one, other]), f"{tiers.groups[-1][one]} to {tiers.groups[-1][other]}"
    if flows.links is not None:
        assert tiers.ways is not None
        link = int(flows.links.argmax())
        if flows.links[link] / tiers.ways.Bps > congestion:
            congestion, busiest = float(flows.links[link] / tiers.ways.Bps), " to ".join(tiers.ways.ends[link])
    return FamilyCost(
        family=name,
        exposed=exposed,
        seconds=exposed * max(congestion, flows.slowest_s),
        slowest_s=flows.slowest_s,
        slowest_tier=tiers.names[flows.level - 1] if flows.level else None,
        congestion_s=congestion,
        busiest=busiest,
        bytes_by_tier=tuple(float(leaving.sum()) for leaving in flows.leaving),
        ring_entries=flows.entries,
        inside=flows.inside,
    )


def _rings(tiers: Tiers, volume: float, size: int, stride: int, placed: Labels, domain: Domains) -> _Flows:
    """Rings over ``size`` virtual nodes, ``stride`` apart: each sends ``volume`` bytes to the next. Members that NVLink joins share their
    adapters where the ring leaves them, as the GPUs of one node do."""
    end, ring = _ring_edges(placed.shape[1], size, stride)
    start = np.arange(placed.shape[1]) if domain is None else np.flatnonzero(domain != domain[end])
    if not start.size:
        return _Flows(_none(tiers), volume / tiers.nvlink_Bps, 0, inside=True)
    leaving, level, entries, pairs, links = [], 0, 0, None, None
    for k, (edges, sent, met) in enumerate(_crossing(placed, start, end[start])):
        leaving.append(volume * _count(tiers, k, sent))
        pairs = _between(tiers, k, sent, met, volume)
        level = k + 1 if edges.size else level
        if k == 0 and tiers.ways:
            links = tiers.ways.loads(sent, met, volume)
        if k == 0 and edges.size:
            entries = _most_alike(ring[edges] * len(tiers.groups[0]) + met)
    members = 1.0 if domain is None else size / int(np.bincount(ring[start]).max())
    return _Flows(tuple(leaving), volume / min(float(tiers.flow_Bps[level]) * members, tiers.nvlink_Bps), level, entries, pairs=pairs, links=links)


def _columns(tiers: Tiers, volume: float, row: int, closed: bool, placed: Labels, domain: Domains) -> _Flows:
    """Chains over the stages, rows of ``row`` virtual nodes, ``volume`` bytes each way on every edge; closed to rings when interleaved."""
    nodes = placed.shape[1]
    start, end = np.arange(nodes if closed else nodes - row), np.arange(row, nodes + row if closed else nodes)
    end[nodes - row :] -= nodes
    nearest = np.inf
    if domain is not None:
        far = domain[start] != domain[end]
        nearest = np.inf if far.all() else tiers.nvlink_Bps
        start, end = start[far], end[far]
    if not start.size:
        return _Flows(_none(tiers), volume / tiers.nvlink_Bps, 0, inside=True)
    leaving, level, pairs, links = [], 0, None, None
    for k, (edges, one, other) in enumerate(_crossing(placed, start, end)):
        if k == 0 and tiers.ways:
            links = tiers.ways.loads(one, other, volume) + tiers.ways.loads(other, one, volume)
        leaving.append(volume * (_count(tiers, k, one) + _count(tiers, k, other)))
        pairs = _between(tiers, k, one, other, volume)
        level = k + 1 if edges.size else level
    return _Flows(tuple(leaving), volume / min(float(tiers.flow_Bps[level]), nearest), level, pairs=None if pairs is None else pairs + pairs.T, links=links)


def _all_to_all(tiers: Tiers, volume: float, size: int, placed: Labels, domain: Domains) -> _Flows:
    """Each of ``size`` consecutive virtual nodes sends ``volume`` / (size - 1) bytes to each of the others.

    Counted by the members that share a label. Expert groups that lie whole in one leaf group and send each member's bytes over its
    adapters are alike, so one of them stands for all.
    """
    member = placed.reshape(len(placed), -1, size)
    split = (member[0] != member[0][:, :1]).any(axis=1)
    if domain is not None:
        near = domain.reshape(-1, size)
        split |= (near != near[:, :1]).any(axis=1)
    counted = np.flatnonzero(split)
    if counted.size < len(split):
        counted = np.append(counted, split.argmin())
    member = member[:, counted]
    alike = _alike(*member[::-1])[::-1]
    near_to, near_alike = np.ones_like(alike[0]), np.ones_like(alike)
    if domain is not None:
        near_to, *near_alike = _alike(near[counted], *member[::-1])
        near_alike = near_alike[::-1]
    apart = [(size - same) - (near_to - near_same) for same, near_same in zip(alike, near_alike, strict=True)]
    far, share = size - near_to, volume / (size - 1)
    met = [far - apart[0], *(one - above for one, above in zip(apart, apart[1:], strict=False)), apart[-1]]  # by the lowest tier in common
    seconds = share * ((near_to - 1) / tiers.nvlink_Bps + sum(pairs / rate for pairs, rate in zip(met, tiers.flow_Bps, strict=True)))
    leaving = tuple(share * np.bincount(member[k].ravel(), apart[k].ravel(), len(tiers.groups[k])) for k in range(len(tiers.names)))
    least = share * int(far.max()) / float(tiers.flow_Bps[0])
    level = max((k + 1 for k, pairs in enumerate(apart) if pairs.any()), default=0)
    joined = None if domain is None else near[counted]
    pairs = None if tiers.pair_Bps is None else _among(tiers, -1, member, joined, share)
    links = None if tiers.ways is None else tiers.ways.of(_among(tiers, 0, member, joined, share).ravel())
    return _Flows(leaving, max(float(seconds.max()), least), level, inside=not far.any(), pairs=pairs, links=links)


@lru_cache(maxsize=16)
def _ring_edges(nodes: int, size: int, stride: int) -> tuple[Order, Order]:
    """Of each virtual node the next one in its ring and the number of that ring; not to be written to."""
    v, block = np.arange(nodes), size * stride
    within = v % block
    return v - within + (within + stride) % block, v // block * stride + v % stride


def _crossing(placed: Labels, start: Order, end: Order) -> Iterator[tuple[Order, Labels, Labels]]:
    """Tier by tier the edges that leave a group: where they start, and the groups at both ends. What stays in a group stays in all above."""
    for labels in placed:
        one, other = labels.take(start), labels.take(end)
        out = one != other
        start, end = start[out], end[out]
        yield start, one[out], other[out]


def _alike(*planes: Labels) -> NDArray[np.int64]:
    """Of each member of a group (arrays groups x members) how many of its group, itself among them, share its label on the first plane,
    on the first two, and so on."""
    key = planes[0]
    for plane in planes[1:]:
        key = key * (plane.max() + 1) + plane
    at = np.argsort(key, axis=1)
    new = np.zeros(key.shape, dtype=bool)
    new[:, 0] = True
    counts = np.empty((len(planes), *key.shape), dtype=np.int64)
    for count, plane in zip(counts, planes, strict=True):
        row = np.take_along_axis(plane, at, axis=1)
        new[:, 1:] |= row[:, 1:] != row[:, :-1]
        runs = np.diff(np.flatnonzero(new.ravel()), append=key.size)
        np.put_along_axis(count, at, np.repeat(runs, runs).reshape(key.shape), axis=1)
    return counts


def _count(tiers: Tiers, tier: int, labels: Labels) -> NDArray[np.float64]:
    return np.bincount(labels, minlength=len(tiers.groups[tier])).astype(np.float64)


def _between(tiers: Tiers, tier: int, start: Labels, end: Labels, volume: float) -> NDArray[np.float64] | None:
    """Bytes from each group of the top tier to each other; None below it and where no two are joined."""
    if tiers.pair_Bps is None or tier < len(tiers.names) - 1:
        return None
    groups = len(tiers.groups[tier])
    return volume * np.bincount(start * groups + end, minlength=groups * groups).reshape(groups, groups)


def _among(tiers: Tiers, tier: int, member: Labels, near: Domains, share: float) -> NDArray[np.float64]:
    """The same of any tier, for expert groups whose members, given by their groups of each tier, each send ``share`` bytes to each other; those
    of one NVLink domain, given by ``near``, send none over the fabric."""
    group = np.broadcast_to(np.arange(member.shape[1])[:, None], member.shape[1:])
    out = _meetings(group, member[tier], len(tiers.groups[tier]))
    if near is not None:
        out -= _meetings(np.unique(group * (near.max() + 1) + near, return_inverse=True)[1].reshape(group.shape), member[tier], len(tiers.groups[tier]))
    np.fill_diagonal(out, 0.0)
    return share * out


def _meetings(party: Labels, label: Labels, labels: int) -> NDArray[np.float64]:
    """Ordered pairs of members of one party, by the labels of both."""
    held = np.zeros((int(party.max()) + 1, labels))
    np.add.at(held, (party, label), 1.0)
    return held.T @ held


def _none(tiers: Tiers) -> tuple[NDArray[np.float64], ...]:
    return tuple(np.zeros(len(names)) for names in tiers.groups)


def _most_alike(keys: NDArray[np.int64]) -> int:
    """How often the most frequent of some keys, at least one, stands among them."""
    keys = np.sort(keys)
    return int(np.diff(np.flatnonzero(keys[1:] != keys[:-1]), prepend=-1, append=keys.size - 1).max())
