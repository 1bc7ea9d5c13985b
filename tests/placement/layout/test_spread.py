"""Tiles of a job dealt over a dragonfly."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from iacgen.placement.choice import choose
from iacgen.placement.cost import cost
from iacgen.placement.layout.spread import spread
from iacgen.placement.layout.walks import plain
from iacgen.placement.tiers import Tiers
from iacgen.training.traffic import NodeGrid, Traffic

EXPOSED = {"dp": 0.4, "pp": 0.3, "cp": 0.5, "ep": 1.0}


def dragonfly(groups: int, hosts: int, pair: float) -> Tiers:
    """Groups of one leaf each; a host's flow has rate 1."""
    labels = np.repeat(np.arange(groups), hosts)[None]
    return Tiers(("group",), (tuple(f"g{i}" for i in range(groups)),), labels, (np.full(groups, pair * (groups - 1)),), np.ones(2), pair_Bps=np.full((groups, groups), pair))


@pytest.mark.parametrize(("groups", "hosts", "grid"), [(8, 8, NodeGrid(1, 16, 4)), (16, 4, NodeGrid(1, 8, 8)), (9, 8, NodeGrid(1, 32, 2)), (8, 8, NodeGrid(2, 4, 8, 4))], ids=str)
def test_an_order_uses_each_host_once_and_keeps_experts_and_context_together(groups, hosts, grid):
    tiers, traffic = dragonfly(groups, hosts, 1.0), Traffic(1.0, 1.0, 0.1, 1.0, False)
    orders = list(spread(tiers, grid, traffic, EXPOSED))
    assert orders
    for order in orders:
        assert len(set(order.tolist())) == grid.nodes
        for size in (grid.expert, grid.context):
            of = tiers.labels[0][order].reshape(-1, size)
            assert (of == of[:, :1]).all()


def test_no_two_rings_of_a_group_take_the_same_link_where_there_are_links_enough():
    """Eight rings over sixteen groups, each through all: 128 edges for 240 links."""
    tiers, grid = dragonfly(16, 8, 1.0), NodeGrid(1, 16, 8)
    order = next(spread(tiers, grid, Traffic(1.0, 0.0, 1e-6, 0.0, False), EXPOSED))
    rows = tiers.labels[0][order].reshape(8, 16)
    pairs = [(a, b) for row in rows.tolist() for a, b in zip(row, row[1:] + row[:1], strict=True) if a != b]
    assert max(np.unique(pairs, axis=0, return_counts=True)[1]) == 1


def test_the_choice_beats_hosts_side_by_side_by_what_the_busiest_link_is_worth():
    tiers, grid, traffic = dragonfly(16, 8, 0.5), NodeGrid(1, 16, 8), Traffic(1.0, 0.0, 0.01, 0.0, False)
    chosen, columns = choose(tiers, grid, traffic, EXPOSED), np.empty(128, dtype=np.int64)
    columns[plain(grid, 8, 1)] = np.arange(128)  # a pipeline in each group: all eight rings go on over one link
    assert cost(tiers, grid, traffic, columns, EXPOSED).families[0].congestion_s == 16.0
    assert chosen.cost.total_s < 0.5 * cost(tiers, grid, traffic, columns, EXPOSED).total_s
    assert chosen.cost.total_s <= 1.08 * chosen.bound.seconds


def test_the_bound_of_a_dragonfly_is_below_every_order_of_a_small_one():
    tiers, grid = dragonfly(4, 2, 0.3), NodeGrid(1, 2, 4)
    for traffic in (Traffic(1.0, 0.0, 0.5, 0.0, False), Traffic(0.2, 0.0, 1.0, 0.0, True)):
        chosen = choose(tiers, grid, traffic, EXPOSED)
        best = min(cost(tiers, grid, traffic, order, EXPOSED).total_s for order in _different(tiers, grid))
        assert chosen.bound.seconds <= best * (1 + 1e-9)
        assert chosen.cost.total_s == pytest.approx(best, rel=1e-9)


def _different(tiers, grid):
    hosts = [np.flatnonzero(tiers.labels[0] == g).tolist() for g in range(4)]
    for groups in product(range(4), repeat=grid.nodes):
        if max(np.bincount(groups)) <= 2 and groups[0] == 0:
            left = [list(h) for h in hosts]
            yield np.array([left[g].pop() for g in groups])


def test_a_fabric_whose_groups_meet_in_switches_above_gets_none():
    tiers = Tiers(("leaf",), (("a", "b"),), np.array([[0, 0, 1, 1]]), (np.ones(2),), np.ones(2))
    assert list(spread(tiers, NodeGrid(1, 4, 1), Traffic(1.0, 0.0, 0.0, 0.0, False), EXPOSED)) == []
