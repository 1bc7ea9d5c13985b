"""Expert groups that fit into no leaf whole, cut evenly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacgen.placement.choice import choose
from iacgen.placement.layout.seats import grounds
from iacgen.placement.layout.straddle import straddled
from iacgen.placement.tiers import Tiers
from iacgen.training.traffic import NodeGrid, Traffic


def leaves(sizes: list[int]) -> Tiers:
    return Tiers(("leaf",), (tuple(f"l{i}" for i in range(len(sizes))),), np.repeat(np.arange(len(sizes)), sizes)[None], (np.full(len(sizes), 99.0),), np.array([0.95, 0.85]))


@given(st.lists(st.integers(1, 13), min_size=2, max_size=7), st.sampled_from([2, 4, 6, 8]), st.integers(1, 6))
def test_each_group_lies_whole_or_in_two_parts_that_differ_by_two_at_most(sizes, size, groups):
    tiers = leaves(sizes)
    for seats in straddled(next(grounds(tiers)), groups * size, size):
        assert len(set(seats.hosts.tolist())) == groups * size == seats.takes.sum()
        for members in tiers.labels[0][seats.hosts].reshape(-1, size):
            parts = np.unique(members, return_counts=True)[1]
            assert len(parts) == 1 or (len(parts) == 2 and abs(int(parts[0] - parts[1])) <= 2)


@pytest.mark.parametrize(("sizes", "groups", "most"), [([12, 12], 3, 4), ([11, 11, 10], 4, 5), ([10, 10, 12], 4, 5), ([9, 15, 8], 4, 4 + 1)])
def test_all_hosts_are_used_and_no_member_has_more_than_so_many_far(sizes, groups, most):
    """Worked out by hand: 12 + 12 = 8 | 4 . 4 | 8; of 11, 11 and 10 two groups must be cut 5 and 3."""
    tiers = leaves(sizes)
    chosen = choose(tiers, NodeGrid(1, 8 * groups, 1, 8), Traffic(0.0, 0.0, 0.0, 7.0, False))
    near, far = 1 / 0.95, 1 / 0.85
    assert chosen.cost.total_s == pytest.approx((7 - most) * near + most * far, rel=1e-9)


def test_groups_of_an_odd_number_or_without_room_get_nothing():
    assert list(straddled(next(grounds(leaves([5, 5]))), 9, 3)) == []
    assert list(straddled(next(grounds(leaves([5, 5]))), 10, 4)) == []
