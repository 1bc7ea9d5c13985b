"""Orders worth trying and the choice between them."""

from __future__ import annotations

from itertools import permutations
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacgen.placement.choice import choose
from iacgen.placement.cost import cost
from iacgen.placement.layout import candidates
from iacgen.placement.layout.seats import Rule, Turn, grounds
from iacgen.placement.layout.walks import Walk, plain
from iacgen.placement.tiers import Tiers
from iacgen.training.traffic import NodeGrid, Traffic


def one_tier(leaves: list[int], uplink: float = 2.0, groups: int | None = None) -> Tiers:
    count = groups or max(leaves) + 1
    return Tiers(("leaf",), (tuple(f"su{i}" for i in range(count)),), np.array([leaves]), (np.full(count, uplink),), np.array([0.95, 0.85]))


@st.composite
def instances(draw):
    expert = draw(st.sampled_from([1, 2]))
    grid = NodeGrid(draw(st.integers(1, 2)), 2 * draw(st.integers(1, 3)), draw(st.integers(1, 4)), expert)
    traffic = Traffic(*(draw(st.sampled_from([0.0, 1.0, 5.0])) for _ in range(4)), draw(st.booleans()))
    leaves = [draw(st.integers(0, 3)) for _ in range(grid.nodes + draw(st.integers(0, 4)))]
    return one_tier(leaves, draw(st.sampled_from([0.5, 2.0, 50.0])), groups=4), grid, traffic


def test_the_choice_is_at_most_the_recorded_topological_order_and_names(case):
    chosen = choose(case.tiers, case.grid, case.traffic, case.exposed)
    recorded = case.data["cost_s"]
    assert chosen.by_name.total_s == pytest.approx(recorded["naive_natural_hostname"], rel=1e-9)
    assert case.data["best_known"]["cost_s"] <= chosen.cost.total_s * (1 + 1e-9)
    assert chosen.cost.total_s <= min(recorded["naive_natural_hostname"], recorded["topological_order"]) * (1 + 1e-9)


@given(instances())
def test_every_candidate_gives_each_virtual_node_one_host(instance):
    tiers, grid, _ = instance
    for order in candidates(tiers, grid):
        assert order.shape == (grid.nodes,)
        assert len(set(order.tolist())) == grid.nodes
        assert 0 <= order.min() and order.max() < tiers.hosts


@given(instances())
def test_the_topological_order_and_the_sorted_names_are_among_the_candidates(instance):
    tiers, grid, _ = instance
    orders = {tuple(order.tolist()) for order in candidates(tiers, grid)}
    by_leaf = sorted(range(tiers.hosts), key=lambda h: (tiers.labels[0][h], h))
    assert {tuple(by_leaf[: grid.nodes]), tuple(range(grid.nodes))} <= orders


@given(instances())
def test_the_choice_never_costs_more_than_sorted_names(instance):
    tiers, grid, traffic = instance
    chosen = choose(tiers, grid, traffic)
    assert chosen.cost.total_s <= chosen.by_name.total_s
    assert cost(tiers, grid, traffic, chosen.order) == chosen.cost


@given(instances())
def test_no_choice_costs_less_than_the_bound(instance):
    tiers, grid, traffic = instance
    chosen = choose(tiers, grid, traffic)
    assert chosen.bound.seconds <= chosen.cost.total_s * (1 + 1e-9)


@given(instances(), st.randoms(use_true_random=False))
def test_hosts_that_change_their_seats_within_a_leaf_change_no_cost(instance, random):
    tiers, grid, traffic = instance
    seats = list(range(tiers.hosts))
    random.shuffle(seats)
    dealt = Tiers(tiers.names, tiers.groups, tiers.labels[:, seats], tiers.uplink_Bps, tiers.flow_Bps)
    ordered = Tiers(tiers.names, tiers.groups, np.sort(tiers.labels, axis=1), tiers.uplink_Bps, tiers.flow_Bps)
    # Names that follow the leaves leave one candidate fewer, so the dealt ones can only be as cheap or cheaper.
    assert choose(dealt, grid, traffic).cost.total_s <= choose(ordered, grid, traffic).cost.total_s * (1 + 1e-9)


def test_names_dealt_over_the_leaves_cost_strictly_more_than_the_choice():
    dealt = one_tier([h % 4 for h in range(32)], uplink=4.0)
    chosen = choose(dealt, NodeGrid(1, 32, 1), Traffic(10.0, 0.0, 0.0, 0.0, False))
    order, best, by_name = chosen.order, chosen.cost, chosen.by_name
    assert order.tolist() == sorted(range(32), key=lambda h: (h % 4, h))
    assert best.total_s < by_name.total_s
    assert (best.ring_entries, by_name.ring_entries) == (1, 8)


def test_with_equal_time_the_fewest_bytes_over_switches_win():
    dealt = one_tier([h % 4 for h in range(32)], uplink=1000.0)
    chosen = choose(dealt, NodeGrid(1, 32, 1), Traffic(10.0, 0.0, 0.0, 0.0, False))
    best, by_name = chosen.cost, chosen.by_name
    assert best.total_s == by_name.total_s
    assert (best.cross_leaf_bytes, by_name.cross_leaf_bytes) == (40.0, 320.0)


def test_one_host_missing_from_a_leaf_does_not_shift_the_later_rows():
    tiers = one_tier([0] * 3 + [1] * 4 + [2] * 4)
    chosen = choose(tiers, NodeGrid(1, 4, 2), Traffic(10.0, 0.0, 1.0, 0.0, False))
    order, best = chosen.order, chosen.cost
    assert [set(tiers.labels[0][row]) for row in order.reshape(2, 4)] == [{1}, {2}]
    assert {f.family: f.slowest_tier for f in best.families} == {"dp": None, "pp": "leaf"}


def test_whole_pipelines_share_a_leaf_when_the_pipeline_is_what_costs():
    tiers = one_tier([h // 4 for h in range(16)])
    chosen = choose(tiers, NodeGrid(1, 4, 4), Traffic(0.1, 0.0, 10.0, 0.0, True))
    order, best = chosen.order, chosen.cost
    assert all(len(set(tiers.labels[0][column])) == 1 for column in order.reshape(4, 4).T)
    assert {f.family: f.slowest_tier for f in best.families} == {"dp": "leaf", "pp": None}


def test_an_expert_group_stays_in_its_leaf_where_it_can():
    tiers = one_tier([0] * 5 + [1] * 5 + [2] * 2)
    order = choose(tiers, NodeGrid(1, 8, 1, 4), Traffic(1.0, 0.0, 0.0, 10.0, False)).order
    assert [len(set(tiers.labels[0][group])) for group in order.reshape(2, 4)] == [1, 1]


@pytest.mark.parametrize("grid", [NodeGrid(1, 2, 3), NodeGrid(1, 3, 2), NodeGrid(2, 1, 3), NodeGrid(1, 6, 1)], ids=str)
def test_on_a_ragged_instance_the_choice_is_the_optimum_of_all_orders(grid):
    tiers, traffic = one_tier([0, 1, 2, 0, 1, 2, 0]), Traffic(4.0, 2.0, 1.0, 0.0, False)
    different = {tuple(tiers.labels[0][list(order)]): order for order in permutations(range(7), 6)}
    optimum = min(cost(tiers, grid, traffic, np.array(order)).total_s for order in different.values())
    best = choose(tiers, grid, traffic).cost
    assert best.total_s == pytest.approx(optimum, rel=1e-9)


def test_a_walk_of_single_tiles_is_rank_order():
    assert plain(NodeGrid(1, 3, 2), 1, 1).tolist() == [0, 1, 2, 3, 4, 5]


def test_a_walk_fills_tiles_column_piece_by_column_piece():
    assert plain(NodeGrid(1, 4, 2), 2, 2).tolist() == [0, 1, 4, 5, 2, 3, 6, 7]


def test_the_last_block_of_a_walk_has_the_stages_that_are_left():
    assert Walk(2, 2, 1).cells(NodeGrid(1, 2, 3), np.array([6])).tolist() == [0, 2, 1, 3, 4, 5]


def test_in_a_pod_a_block_may_be_cut_once_more():
    """Two pods of four nodes, each with two columns of both stages: stage by stage inside."""
    assert Walk(2, 1, 1).cells(NodeGrid(1, 4, 2), np.array([4, 4])).tolist() == [0, 1, 4, 5, 2, 3, 6, 7]


@given(instances(), st.integers(1, 4), st.integers(0, 2), st.sampled_from(get_args(Turn)), st.booleans())
def test_a_sequence_holds_each_host_once_and_whole_units_first(instance, unit, chunk, turn, spare):
    tiers, _, _ = instance
    ground = next(grounds(tiers))
    sizes = np.bincount(tiers.labels[0], minlength=4)
    for nodes in (1, tiers.hosts // 2 + 1, tiers.hosts):
        seats = ground.seats(Rule(unit, 1, chunk, 1, turn, spare), nodes)
        room = sizes.copy()
        room[sizes.argmax()] -= spare
        whole, rest = room - room % unit, room % unit
        rest -= rest % chunk if chunk else rest
        if whole.sum() + rest.sum() < nodes:
            assert seats is None
        else:
            assert len(set(seats.hosts.tolist())) == len(seats.hosts) == nodes == seats.takes.sum()
            first = np.bincount(tiers.labels[0][seats.hosts[: whole.sum()]], minlength=4)
            assert (first % unit != 0).sum() <= 1 or nodes < whole.sum()


def test_the_biggest_leaf_first_keeps_a_job_on_one_leaf():
    tiers = one_tier([0] * 3 + [1] * 5)
    assert set(tiers.labels[0][next(grounds(tiers)).seats(Rule(1, 1, turn="biggest first"), 5).hosts]) == {1}


def test_more_virtual_nodes_than_hosts_are_refused():
    with pytest.raises(ValueError, match="3 virtual nodes on 2 hosts"):
        next(candidates(one_tier([0, 0]), NodeGrid(1, 3, 1)))
