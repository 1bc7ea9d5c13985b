"""The bound against orders that are known to cost less than a careless one would say."""

from __future__ import annotations

import numpy as np

from iacgen.placement.bound import lower_bound
from iacgen.placement.choice import choose
from iacgen.placement.cost import cost
from iacgen.placement.tiers import Tiers
from iacgen.training.traffic import NodeGrid, Traffic


def test_groups_of_a_dragonfly_that_share_nvlink_domains_have_several_links_between_them():
    """Four groups, domains over the first two and the last two: four links, not one, join the two halves."""
    pair = np.where(np.eye(4, dtype=bool), np.inf, 0.5)
    domain = np.array([0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7])
    tiers = Tiers(("group",), (("g0", "g1", "g2", "g3"),), np.repeat(np.arange(4), 4)[None], (np.full(4, np.inf),), np.array([0.95, 0.85]), domain, 4.0, pair)
    grid, traffic = NodeGrid(1, 8, 2), Traffic(100.0, 0.0, 1.0, 0.0, False)
    bound, rows, base = lower_bound(tiers, grid, traffic).seconds, [0, 4, 5, 1, 2, 6, 7, 3], [8, 12, 13, 9, 10, 14, 15, 11]
    for turn in range(8):
        assert bound <= cost(tiers, grid, traffic, np.array(rows + base[turn:] + base[:turn])).total_s * (1 + 1e-9)


def test_tensor_groups_on_a_dragonfly_stay_in_their_domains():
    """Domains of two hosts, dealt over the leaves of three groups joined two by two."""
    leaf = np.repeat(np.arange(6), 4)
    pair = np.where(np.eye(3, dtype=bool), np.inf, 0.5)
    tiers = Tiers(("leaf", "group"), (tuple("abcdef"), tuple("pqr")), np.stack([leaf, leaf // 2]), (np.full(6, 4.0), np.full(3, 2.0)), np.array([0.95, 0.85, 0.78]), np.arange(24) // 2, 9.0, pair)
    for grid in (NodeGrid(1, 4, 2, tensor=2), NodeGrid(1, 3, 4, tensor=2), NodeGrid(1, 6, 1, tensor=2)):
        chosen = choose(tiers, grid, Traffic(10.0, 0.0, 1.0, 0.0, False))
        groups = (chosen.order // 2).reshape(-1, 2)
        assert (groups[:, 0] == groups[:, 1]).all() and chosen.bound.seconds <= chosen.cost.total_s * (1 + 1e-9)


def test_the_words_name_the_traffic_as_the_tables_do():
    racks = Tiers(("leaf",), (("one",),), np.zeros((1, 8), np.int64), (np.array([np.inf]),), np.array([1e9, 1e9]), domain=np.arange(8) // 4, nvlink_Bps=9e9)
    words = lower_bound(racks, NodeGrid(1, 4, 2, 1), Traffic(1e9, 0.0, 1e8, 0.0, False)).why
    assert "data parallel inside an NVLink domain" in words and "pipeline from NVLink domain to NVLink domain" in words


def test_what_leaves_a_group_may_take_all_of_its_links():
    """Three groups of one host and a pipeline closed to a ring: each host has an edge to each other, so a link carries one edge each way."""
    pair = np.where(np.eye(3, dtype=bool), np.inf, 0.5)
    tiers = Tiers(("group",), (tuple("abc"),), np.array([[0, 1, 2]]), (np.full(3, np.inf),), np.array([100.0, 100.0]), pair_Bps=pair)
    grid, traffic = NodeGrid(1, 1, 3), Traffic(0.0, 0.0, 1.0, 0.0, True)
    assert lower_bound(tiers, grid, traffic, {"pp": 1.0}).seconds == cost(tiers, grid, traffic, np.arange(3), {"pp": 1.0}).total_s == 2.0
