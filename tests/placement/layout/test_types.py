"""Hosts with different GPUs: whole stages of one type."""

from __future__ import annotations

import numpy as np
import pytest

from iacgen.placement import choice
from iacgen.placement.choice import choose, mixed_stages
from iacgen.placement.layout.types import least_mixed
from iacgen.placement.tiers import Tiers
from iacgen.training.traffic import NodeGrid, Traffic


def two_types(leaves: list[int], kinds: list[int]) -> Tiers:
    count = max(leaves) + 1
    return Tiers(("leaf",), (tuple(f"l{i}" for i in range(count)),), np.array([leaves]), (np.full(count, 4.0),), np.array([0.95, 0.85]), kind=np.array(kinds))


@pytest.mark.parametrize("first", [6, 8, 10, 12, 16])
def test_no_more_stages_mix_types_than_must(first):
    """Sixteen hosts and four to spare, four stages of four; names alternate."""
    kinds = [0] * first + [1] * (20 - first)
    turn = np.random.default_rng(1).permutation(20)
    tiers = two_types([h // 5 for h in turn], [kinds[h] for h in turn])
    grid = NodeGrid(1, 4, 4)
    chosen = choose(tiers, grid, Traffic(1.0, 0.0, 0.2, 0.0, False))
    whole = first // 4 + (20 - first) // 4
    assert least_mixed(tiers, grid) == max(0, 4 - whole)
    assert mixed_stages(tiers, grid, chosen.order) == max(0, 4 - whole)
    assert len(set(chosen.order.tolist())) == 16


def test_types_come_before_time():
    """One leaf has both types: a stage there would be faster than one over two leaves."""
    tiers = two_types([0, 0, 0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 0, 0, 1, 1])
    chosen = choose(tiers, NodeGrid(1, 4, 2), Traffic(10.0, 0.0, 0.1, 0.0, False))
    assert mixed_stages(tiers, NodeGrid(1, 4, 2), chosen.order) == 0


def test_tensor_groups_of_a_type_that_has_no_whole_domain_leave_the_others_an_order():
    """Of the second type each domain has one host: no tensor group of two finds a place there."""
    kind = np.array([0, 0, 0, 0, 1, 0, 1, 0])
    tiers = Tiers(("leaf",), (("l0", "l1"),), np.array([[0, 0, 0, 0, 1, 1, 1, 1]]), (np.full(2, 4.0),), np.array([0.95, 0.85]), domain=np.arange(8) // 2, nvlink_Bps=9.0, kind=kind)
    chosen = choose(tiers, NodeGrid(1, 1, 2, tensor=2), Traffic(0.0, 0.0, 1.0, 0.0, False))
    assert sorted(chosen.order.tolist()) == [0, 1, 2, 3] and mixed_stages(tiers, NodeGrid(1, 1, 2, tensor=2), chosen.order) == 0


def test_a_large_job_is_looked_at_until_no_more_stages_mix_than_must(monkeypatch):
    """The order of the fabric is as fast as any here, and mixes all stages: after how many orders the search ends says nothing of them."""
    monkeypatch.setattr(choice, "ENOUGH", 0)
    tiers, grid = two_types([h // 8 for h in range(24)], [h % 2 for h in range(24)]), NodeGrid(1, 4, 4)
    chosen = choose(tiers, grid, Traffic(1e-9, 0.0, 1e-9, 0.0, False))
    assert least_mixed(tiers, grid) == mixed_stages(tiers, grid, chosen.order) == 0
