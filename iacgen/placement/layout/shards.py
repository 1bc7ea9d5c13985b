"""Shard groups as rows: what suits rows and pipelines suits groups and the rings between them."""

from __future__ import annotations

from collections.abc import Mapping

from iacgen.training.traffic import NodeGrid, Traffic

from ..model import Family


def by_group(grid: NodeGrid) -> NodeGrid | None:
    """A job with several shard groups in a row as a grid of as many rows as there are groups, with the same numbers of its nodes: what was
    a ring between groups is a column, or a part of one in a job of several stages. None for other jobs."""
    if grid.shard == 1:
        return None
    expert = grid.expert if grid.apart % grid.expert == 0 else 1
    return NodeGrid(grid.context, grid.shard // grid.context, grid.copies * grid.pipeline, expert, grid.tensor)


def traffic_by_group(traffic: Traffic, exposed: Mapping[Family, float]) -> tuple[Traffic, dict[Family, float]]:
    """Traffic and weights of that grid in a job of one stage: rows are rings inside shard groups, columns closed rings, whose bytes count both ways there."""
    weights: dict[Family, float] = {**exposed, "dp": exposed.get("fs", 0.0), "pp": exposed.get("dp", 0.0)}
    return Traffic(traffic.shard, traffic.context, traffic.data, traffic.expert, True), weights
