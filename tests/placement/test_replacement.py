"""Another host for one that failed."""

from __future__ import annotations

import numpy as np

from iacgen.placement.choice import choose
from iacgen.placement.cost import cost
from iacgen.placement.replacement import replaced
from iacgen.placement.tiers import Tiers
from iacgen.training.traffic import NodeGrid, Traffic

EXPOSED = {"dp": 0.4, "pp": 0.3, "cp": 0.5, "ep": 1.0}
GRID, TRAFFIC = NodeGrid(1, 8, 4), Traffic(10.0, 0.0, 1.0, 0.0, False)


def pods(spare: int = 1) -> Tiers:
    """Two pods of two leaves of eight hosts and as many to spare on each leaf."""
    leaf = np.repeat(np.arange(4), 8 + spare)
    return Tiers(("leaf", "pod"), (("a", "b", "c", "d"), ("p", "q")), np.stack([leaf, leaf // 2]), (np.full(4, 8.0), np.full(2, 3.0)), np.array([0.95, 0.85, 0.78]))


def test_a_host_of_the_same_leaf_costs_nothing():
    tiers = pods()
    before = choose(tiers, GRID, TRAFFIC, EXPOSED)
    for node in range(0, 32, 5):
        failed = int(before.order[node])
        after = replaced(tiers, GRID, TRAFFIC, EXPOSED, before.order, {failed}, ())
        assert (np.flatnonzero(after != before.order) == [node]).all()
        free = set(range(tiers.hosts)) - set(before.order.tolist())
        if any(tiers.labels[0, h] == tiers.labels[0, failed] for h in free):
            assert tiers.labels[0, after[node]] == tiers.labels[0, failed]
            assert cost(tiers, GRID, TRAFFIC, after, EXPOSED) == before.cost


def test_a_spare_of_the_same_pod_comes_before_one_of_another():
    tiers = pods()
    order = np.array([h for h in range(36) if h % 9 != 8])  # the ninth of each leaf idles
    gone = {int(order[0]), 8}  # and that of the first leaf is down as well
    after = replaced(tiers, GRID, TRAFFIC, EXPOSED, order, gone, [26, 35, 17])
    assert after[0] == 17


def test_none_where_nobody_is_left_or_nvlink_would_be_left():
    tiers = pods(spare=0)
    assert replaced(tiers, GRID, TRAFFIC, EXPOSED, np.arange(32), {3}, ()) is None
    racks = Tiers(("leaf",), (("a",),), np.zeros((1, 6), dtype=np.int64), (np.full(1, np.inf),), np.ones(2), domain=np.array([0, 0, 1, 1, 2, 2]), nvlink_Bps=9.0)
    grid = NodeGrid(1, 2, 1, tensor=2)
    traffic = Traffic(1.0, 0.0, 0.0, 0.0, False)
    assert replaced(racks, grid, traffic, EXPOSED, np.array([0, 1, 2, 3]), {3}, ()).tolist() == [0, 1, 4, 5]  # the group goes as a whole
    assert replaced(racks, grid, traffic, EXPOSED, np.array([0, 1, 2, 3]), {3, 5}, ()) is None  # one idle host of each rack holds no group


def test_several_failures_are_replaced_one_by_one():
    tiers = pods()
    order = np.array([h for h in range(36) if h % 9 != 8])
    after = replaced(tiers, GRID, TRAFFIC, EXPOSED, order, {0, 9, 18}, ())
    assert after[[0, 8, 16]].tolist() == [8, 17, 26]
