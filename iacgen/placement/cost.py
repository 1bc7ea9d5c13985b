"""What one order of hosts costs: exposed communication time of a step, by family.

T = sum over families of x * max(max over switch groups S of load(S) / uplink(S), slowest), with x the exposed share. ``slowest``
is bytes / rate of the farthest edge for a ring or chain (one bad edge slows the step), the worst member's sum for an
all-to-all; what stays in an NVLink domain of several hosts runs at its rate and crosses no switch. Groups of ranks: rows are data rings, neighbours in a row context rings or expert groups, columns pipelines (see
``NodeGrid``). Links of a tree carry each family's bytes as counted at the groups they leave.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from iacgen.training.traffic import NodeGrid, Traffic

from .assumptions import EXPOSED
from .model import Cost, Family, FamilyCost
from .tiers import Labels, Tiers

Order = NDArray[np.int64]


@dataclass(frozen=True)
class _Flows:
    """A family's flows on one placement: bytes leaving each group by tier, slowest flow, its tier (0: none crossed), whether all stay in
    their NVLink domains."""

    leaving: tuple[NDArray[np.float64], ...]
    slowest_s: float
    level: int
    entries: int = 0
    inside: bool = False


def cost(tiers: Tiers, grid: NodeGrid, traffic: Traffic, order: Order, exposed: Mapping[Family, float] = EXPOSED) -> Cost:
    """Cost of placing virtual node v on host ``order[v]`` (an index into ``tiers.labels``).

    Raises ValueError when the order is not one host for each virtual node, or an expert group is no part of a row.
    """
    if order.shape != (grid.nodes,) or np.unique(order).size != grid.nodes:
        raise ValueError(f"an order of {grid.nodes} different hosts is needed")
    if grid.row % grid.expert:
        raise ValueError(f"{grid.expert} nodes of an expert group do not divide a row of {grid.row}")
    if not whole(tiers, grid, order):
        raise ValueError("a tensor group lies in two NVLink domains")
    placed = np.vstack([tiers.joined[None], tiers.labels])[:, order].reshape(len(tiers.names) + 1, grid.pipeline, grid.row)
    families = (_family(tiers, name, exposed[name], flows(placed)) for name, flows in _families(tiers, grid, traffic))
    return Cost(tiers.names, tuple(families))


def whole(tiers: Tiers, grid: NodeGrid, order: Order) -> bool:
    """Whether the nodes of each tensor group are of one NVLink domain."""
    groups = tiers.joined[order].reshape(-1, grid.tensor)
    return grid.tensor == 1 or bool((groups == groups[:, :1]).all())


def _families(tiers: Tiers, grid: NodeGrid, traffic: Traffic) -> list[tuple[Family, Callable[[Labels], _Flows]]]:
    """The families that leave the node, each with the function that counts its flows on labels (NVLink domain and tiers, stage, row
    position). Rings go through the nodes of one position in their tensor groups."""
    row = grid.context * grid.data
    out: list[tuple[Family, Callable[[Labels], _Flows]]] = []
    if traffic.data and row > 1:
        out.append(("dp", partial(_rings, tiers, traffic.data, row, grid.tensor)))
    if traffic.pipeline and grid.pipeline > 1:
        out.append(("pp", partial(_columns, tiers, traffic.pipeline, traffic.pipeline_ring and grid.pipeline > 2)))
    if traffic.context and grid.context > 1:
        out.append(("cp", partial(_rings, tiers, traffic.context, grid.context, grid.tensor)))
    if traffic.expert and grid.expert > 1:
        out.append(("ep", partial(_all_to_all, tiers, traffic.expert, grid.expert)))
    return out


def _family(tiers: Tiers, name: Family, exposed: float, flows: _Flows) -> FamilyCost:
    congestion, busiest = 0.0, None
    for tier, leaving in enumerate(flows.leaving):
        load = leaving / tiers.uplink_Bps[tier]
        group = int(load.argmax())
        if load[group] > congestion:
            congestion, busiest = float(load[group]), tiers.groups[tier][group]
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


def _rings(tiers: Tiers, volume: float, size: int, tensor: int, placed: Labels) -> _Flows:
    """Rings over ``size`` virtual nodes, ``tensor`` apart: each sends ``volume`` bytes to the next. Members that NVLink joins share their
    adapters where the ring leaves them, as the GPUs of one node do."""
    start = placed.reshape(len(placed), -1, size, tensor).swapaxes(2, 3).reshape(len(placed), -1, size)
    far, crossed = _crossed(start, np.roll(start, -1, axis=2))
    labels, end = start[1:], np.roll(start[1:], -1, axis=2)
    leaving = tuple(volume * _count(tiers, k, labels[k][crossed[k]]) for k in range(len(tiers.names)))
    ring = np.broadcast_to(np.arange(labels.shape[1])[:, None], crossed[0].shape)
    key = ring[crossed[0]] * len(tiers.groups[0]) + end[0][crossed[0]]
    entries = int(np.bincount(key).max()) if key.size else 0
    level = _highest(crossed)
    if not far.any():
        return _Flows(leaving, volume / tiers.nvlink_Bps, level, entries, inside=True)
    members = size / int(far.sum(axis=1).max())
    return _Flows(leaving, volume / min(float(tiers.flow_Bps[level]) * members, tiers.nvlink_Bps), level, entries)


def _columns(tiers: Tiers, volume: float, closed: bool, placed: Labels) -> _Flows:
    """Chains over the stages, ``volume`` bytes each way on every edge; closed to rings when interleaved."""
    start, end = placed[:, :-1], placed[:, 1:]
    if closed:
        start, end = placed, np.roll(placed, -1, axis=1)
    far, crossed = _crossed(start, end)
    leaving = tuple(
        volume * (_count(tiers, k, start[k + 1][crossed[k]]) + _count(tiers, k, end[k + 1][crossed[k]])) for k in range(len(tiers.names))
    )  # fmt: skip
    level = _highest(crossed)
    if not far.any():
        return _Flows(leaving, volume / tiers.nvlink_Bps, level, inside=True)
    return _Flows(leaving, volume / float(tiers.flow_Bps[level]), level)


def _all_to_all(tiers: Tiers, volume: float, size: int, placed: Labels) -> _Flows:
    """Each of ``size`` consecutive virtual nodes sends ``volume`` / (size - 1) bytes to each of the others."""
    member = placed.reshape(len(placed), -1, size)
    far, crossed = _crossed(member[:, :, :, None], member[:, :, None, :])
    level = np.zeros((member.shape[1], size, size), dtype=np.int8)
    leaving = []
    for k, apart in enumerate(crossed):
        level[apart] = k + 1
        weights = apart.sum(axis=2).ravel() * (volume / (size - 1))
        leaving.append(np.bincount(member[k + 1].ravel(), weights, minlength=len(tiers.groups[k])))
    seconds = np.where(far, volume / (size - 1) / tiers.flow_Bps[level], volume / (size - 1) / tiers.nvlink_Bps)
    seconds[:, np.arange(size), np.arange(size)] = 0.0
    least = volume * int(far.sum(axis=2).max()) / (size - 1) / float(tiers.flow_Bps[0])
    return _Flows(tuple(leaving), max(float(seconds.sum(axis=2).max()), least), int(level.max()), inside=not far.any())


def _crossed(start: Labels, end: Labels) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Of edges: whether they leave an NVLink domain, and in which tiers they leave a group; over NVLink they leave none."""
    apart = start != end
    return apart[0], apart[1:] & apart[:1]


def _count(tiers: Tiers, tier: int, labels: Labels) -> NDArray[np.float64]:
    return np.bincount(labels, minlength=len(tiers.groups[tier])).astype(np.float64)


def _highest(crossed: NDArray[np.bool_]) -> int:
    """The highest tier at which any edge differs, counted from 1; 0 for none."""
    return max((k + 1 for k in range(len(crossed)) if crossed[k].any()), default=0)
