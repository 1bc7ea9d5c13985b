"""How far the groups of a job reach over the switches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from iacgen.training.traffic import NodeGrid, Traffic

from .cost import Order
from .model import Family, Span
from .tiers import Tiers


def spans(tiers: Tiers, grid: NodeGrid, traffic: Traffic, order: Order) -> tuple[Span, ...]:
    """One entry for each family that leaves the node. Members that NVLink joins still count for the switch groups above them."""
    nodes = np.arange(grid.nodes)
    members: list[tuple[Family, bool, NDArray[np.int64]]] = [
        ("dp", bool(traffic.data) and grid.copies > 1, rings(grid.nodes, grid.copies, grid.apart)),
        ("pp", bool(traffic.pipeline) and grid.pipeline > 1, nodes.reshape(grid.pipeline, -1).T),
        ("cp", bool(traffic.context) and grid.context > 1, rings(grid.nodes, grid.context, grid.tensor)),
        ("ep", bool(traffic.expert) and grid.expert > 1, nodes.reshape(-1, grid.expert)),
        ("fs", bool(traffic.shard) and grid.shard > 1, rings(grid.nodes, grid.shard, grid.tensor)),
    ]  # fmt: skip
    return tuple(_span(tiers, name, order[rows]) for name, there, rows in members if there)


def rings(nodes: int, size: int, stride: int) -> NDArray[np.int64]:
    """Virtual nodes of each ring over ``size`` of them, ``stride`` apart, one ring a row."""
    return np.arange(nodes).reshape(-1, size, stride).swapaxes(1, 2).reshape(-1, size)


def _span(tiers: Tiers, family: Family, hosts: NDArray[np.int64]) -> Span:
    reached = []
    for labels in tiers.labels:
        row = np.sort(labels[hosts], axis=1)
        reached.append(1 + (row[:, 1:] != row[:, :-1]).sum(axis=1))
    return Span(family, len(hosts), tuple(int((n > 1).sum()) for n in reached), tuple(int(n.max()) for n in reached))
