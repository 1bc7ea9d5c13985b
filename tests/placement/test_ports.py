"""Of hosts that cost the same, those take the ranks whose ports static routes deal apart."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from iacgen.placement.cost import cost
from iacgen.placement.layout.ports import in_port_order
from iacgen.placement.tiers import Tiers
from iacgen.training.traffic import NodeGrid, Traffic

TRAFFIC = Traffic(8.0, 4.0, 2.0, 0.0, True)


def leaves(labels, kind=None):
    names = tuple(f"leaf{i}" for i in range(max(labels) + 1))
    return Tiers(("leaf",), (names,), np.array([labels]), (np.full(len(names), 3.0),), np.array([2.0, 1.0]), kind=kind)


def test_rings_of_several_stages_come_in_at_hosts_side_by_side():
    """Two leaves of eight, four stages of two columns on each: the rings enter leaf 1 at its first four ports, not at every other one."""
    tiled = np.array([[0, 1, 8, 9], [2, 3, 10, 11], [4, 5, 12, 13], [6, 7, 14, 15]])
    order = in_port_order(leaves([0] * 8 + [1] * 8), NodeGrid(1, 4, 4), tiled.ravel()).reshape(4, 4)
    assert order[:, 2].tolist() == [8, 9, 10, 11] and order[:, 0].tolist() == [0, 1, 2, 3]


def test_hosts_as_they_come_stay():
    order = np.array([0, 1, 3, 5, 6, 7])
    assert in_port_order(leaves([0] * 4 + [1] * 4), NodeGrid(1, 3, 2), order).tolist() == order.tolist()


@settings(max_examples=60, deadline=None)
@given(st.permutations(range(16)), st.lists(st.integers(0, 3), min_size=16, max_size=16), st.lists(st.integers(0, 1), min_size=16, max_size=16))
def test_nothing_that_is_counted_changes(order, labels, kinds):
    """The same hosts, each virtual node on the leaf and the type that it had, at the same cost."""
    tiers, grid, before = leaves(labels, np.array(kinds)), NodeGrid(2, 3, 2), np.array(order[:12])
    after = in_port_order(tiers, grid, before)
    assert sorted(after) == sorted(before)
    assert (tiers.labels[0][after] == tiers.labels[0][before]).all() and (tiers.kind[after] == tiers.kind[before]).all()
    assert cost(tiers, grid, TRAFFIC, after) == cost(tiers, grid, TRAFFIC, before)
