"""What one order of hosts costs: exposed communication time of a step, by family.

T = sum over families of x * max(max over switch groups S of load(S) / uplink(S), slowest), with x the exposed share. ``slowest``
is bytes / rate of the farthest edge for a ring or chain (one bad edge slows the step), the worst member's sum for an
all-to-all. Groups of ranks: rows are data rings, neighbours in a row context rings or expert groups, columns pipelines (see
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
    """A family's flows on one placement: bytes leaving each group by tier, slowest flow, its tier (0: none crossed)."""

    leaving: tuple[NDArray[np.float64], ...]
    slowest_s: float
    level: int
    entries: int = 0


def cost(tiers: Tiers, grid: NodeGrid, traffic: Traffic, order: Order, exposed: Mapping[Family, float] = EXPOSED) -> Cost:
    """Cost of placing virtual node v on host ``order[v]`` (an index into ``tiers.labels``).

    Raises ValueError when the order is not one host for each virtual node, or an expert group is no part of a row.
    """
    if order.shape != (grid.nodes,) or np.unique(order).size != grid.nodes:
        raise ValueError(f"an order of {grid.nodes} different hosts is needed")
    if grid.context * grid.data % grid.expert:
        raise ValueError(f"{grid.expert} nodes of an expert group do not divide a row of {grid.context * grid.data}")
    placed = tiers.labels[:, order].reshape(len(tiers.names), grid.pipeline, grid.context * grid.data)
    families = (_family(tiers, name, exposed[name], flows(placed)) for name, flows in _families(tiers, grid, traffic))
    return Cost(tiers.names, tuple(families))


def _families(tiers: Tiers, grid: NodeGrid, traffic: Traffic) -> list[tuple[Family, Callable[[Labels], _Flows]]]:
    """The families that leave the node, each with the function that counts its flows on labels (tier, stage, row position)."""
    row = grid.context * grid.data
    out: list[tuple[Family, Callable[[Labels], _Flows]]] = []
    if traffic.data and row > 1:
        out.append(("dp", partial(_rings, tiers, traffic.data, row)))
    if traffic.pipeline and grid.pipeline > 1:
        out.append(("pp", partial(_columns, tiers, traffic.pipeline, traffic.pipeline_ring and grid.pipeline > 2)))
    if traffic.context and grid.context > 1:
        out.append(("cp", partial(_rings, tiers, traffic.context, grid.context)))
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
    )


def _rings(tiers: Tiers, volume: float, size: int, placed: Labels) -> _Flows:
    """Rings over ``size`` consecutive virtual nodes: each sends ``volume`` bytes to the next."""
    start = placed.reshape(len(tiers.names), -1, size)
    end = np.roll(start, -1, axis=2)
    crossed = start != end
    leaving = tuple(volume * _count(tiers, k, start[k][crossed[k]]) for k in range(len(tiers.names)))
    ring = np.broadcast_to(np.arange(start.shape[1])[:, None], crossed[0].shape)
    key = ring[crossed[0]] * len(tiers.groups[0]) + end[0][crossed[0]]
    entries = int(np.bincount(key).max()) if key.size else 0
    level = _highest(crossed)
    return _Flows(leaving, volume / float(tiers.flow_Bps[level]), level, entries)


def _columns(tiers: Tiers, volume: float, closed: bool, placed: Labels) -> _Flows:
    """Chains over the stages, ``volume`` bytes each way on every edge; closed to rings when interleaved."""
    start, end = placed[:, :-1], placed[:, 1:]
    if closed:
        start, end = placed, np.roll(placed, -1, axis=1)
    crossed = start != end
    leaving = tuple(
        volume * (_count(tiers, k, start[k][crossed[k]]) + _count(tiers, k, end[k][crossed[k]])) for k in range(len(tiers.names))
    )  # fmt: skip
    level = _highest(crossed)
    return _Flows(leaving, volume / float(tiers.flow_Bps[level]), level)


def _all_to_all(tiers: Tiers, volume: float, size: int, placed: Labels) -> _Flows:
    """Each of ``size`` consecutive virtual nodes sends ``volume`` / (size - 1) bytes to each of the others."""
    member = placed.reshape(len(tiers.names), -1, size)
    level = np.zeros((member.shape[1], size, size), dtype=np.int8)
    leaving = []
    for k in range(len(tiers.names)):
        apart = member[k][:, :, None] != member[k][:, None, :]
        level[apart] = k + 1
        weights = apart.sum(axis=2).ravel() * (volume / (size - 1))
        leaving.append(np.bincount(member[k].ravel(), weights, minlength=len(tiers.groups[k])))
    seconds = volume / (size - 1) / tiers.flow_Bps[level]
    seconds[:, np.arange(size), np.arange(size)] = 0.0
    slowest = max(float(seconds.sum(axis=2).max()), volume / float(tiers.flow_Bps[0]))
    return _Flows(tuple(leaving), slowest, int(level.max()))


def _count(tiers: Tiers, tier: int, labels: Labels) -> NDArray[np.float64]:
    return np.bincount(labels, minlength=len(tiers.groups[tier])).astype(np.float64)


def _highest(crossed: NDArray[np.bool_]) -> int:
    """The highest tier at which any edge differs, counted from 1; 0 for none."""
    return max((k + 1 for k in range(len(crossed)) if crossed[k].any()), default=0)
