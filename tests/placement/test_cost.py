"""The cost function against recorded costs, and against a second, slow count of every single message."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacgen.placement.cost import cost
from iacgen.placement.tiers import Tiers
from iacgen.training.traffic import NodeGrid, Traffic

EXPOSED = {"dp": 0.4, "pp": 0.3, "cp": 0.5, "ep": 1.0, "fs": 0.2}


def test_the_best_known_placement_costs_what_is_on_record(case):
    order = case.order(case.data["best_known"]["placement"])
    assert cost(case.tiers, case.grid, case.traffic, order, case.exposed).total_s == pytest.approx(case.data["best_known"]["cost_s"], rel=1e-9)


def test_sorted_names_cost_what_is_on_record(case):
    order = np.arange(case.grid.nodes)
    assert cost(case.tiers, case.grid, case.traffic, order, case.exposed).total_s == pytest.approx(case.data["cost_s"]["naive_natural_hostname"], rel=1e-9)


def test_the_topological_order_costs_what_is_on_record(case):
    order = np.lexsort((np.arange(case.tiers.hosts), *case.tiers.labels))[: case.grid.nodes]
    assert cost(case.tiers, case.grid, case.traffic, order, case.exposed).total_s == pytest.approx(case.data["cost_s"]["topological_order"], rel=1e-9)


def two_tiers(leaves: list[int], pods: list[int], uplink=2.0, pod_uplink=1.0) -> Tiers:
    """Hosts on the given leaves, leaf i in pod ``pods[i]``; flows of 1, 0.9 and 0.8 byte/s."""
    names = (tuple(f"leaf{i}" for i in range(len(pods))), tuple(f"pod{i}" for i in range(max(pods) + 1)))
    labels = np.array([leaves, [pods[leaf] for leaf in leaves]])
    return Tiers(("leaf", "pod"), names, labels, (np.full(len(pods), uplink), np.full(max(pods) + 1, pod_uplink)), np.array([1.0, 0.9, 0.8]))


def messages(grid: NodeGrid, traffic: Traffic):
    """(family, sender, receiver, bytes) of every message, written down one by one."""
    row = grid.row
    cell = {(t, r, p): t + grid.tensor * r + row * p for t in range(grid.tensor) for r in range(row // grid.tensor) for p in range(grid.pipeline)}
    for (t, r, p), v in cell.items():
        group, place = divmod(r, grid.shard)
        groups = row // grid.tensor // grid.shard
        if grid.shard == 1 and groups > 1:
            yield "dp", v, cell[t, (r + 1) % groups, p], traffic.data
        if grid.shard > 1:  # within the group, and from group to group between those in the same place
            yield "fs", v, cell[t, group * grid.shard + (place + 1) % grid.shard, p], traffic.shard
            if groups > 1:
                yield "dp", v, cell[t, (group + 1) % groups * grid.shard + place, p], traffic.data
        if grid.context > 1:
            c, d = r % grid.context, r // grid.context
            yield "cp", v, cell[t, (c + 1) % grid.context + grid.context * d, p], traffic.context
        closed = traffic.pipeline_ring and grid.pipeline > 2
        if p + 1 < grid.pipeline or closed:
            after = cell[t, r, (p + 1) % grid.pipeline]
            yield "pp", v, after, traffic.pipeline
            yield "pp", after, v, traffic.pipeline
        first = v - v % grid.expert
        for w in range(first, first + grid.expert):
            if w != v:
                yield "ep", v, w, traffic.expert / (grid.expert - 1)


def ring_of(grid: NodeGrid, family: str, node: int) -> tuple[int, ...]:
    """What nodes of one ring have in common: place in the tensor group, and stage, sequence, or shard group, or place in the shard group."""
    t, r, p = node % grid.tensor, node % grid.row // grid.tensor, node // grid.row
    if family == "dp":
        return t, p, r % grid.shard
    return t, p, r // members_of(grid, family)


def members_of(grid: NodeGrid, family: str) -> int:
    return {"dp": grid.context * grid.data // grid.shard, "cp": grid.context, "fs": grid.shard}[family]


def slow_cost(tiers: Tiers, grid: NodeGrid, traffic: Traffic, order) -> float:
    """Exposed seconds, message by message. A ring that leaves NVLink domains shares the adapters of all its members between its exits."""
    load: dict[tuple, float] = {}
    slowest: dict[str, float] = {}
    member: dict[int, float] = {}
    exits: dict[tuple, int] = {}
    highest: dict[str, int] = {}
    sizes: dict[str, float] = {}
    for family, a, b, size in messages(grid, traffic):
        if not size:
            continue
        near = tiers.joined[order[a]] == tiers.joined[order[b]]
        apart = [] if near else [k for k in range(len(tiers.names)) if tiers.labels[k, order[a]] != tiers.labels[k, order[b]]]
        tier = max(apart, default=-1) + 1
        seconds = size / (tiers.nvlink_Bps if near else tiers.flow_Bps[tier])
        if family in ("dp", "cp", "fs"):
            ring = family, *ring_of(grid, family, a)
            exits[ring] = exits.get(ring, 0) + (not near)
            highest[family], sizes[family], seconds = max(highest.get(family, 0), tier), size, 0.0
        if family == "ep":
            member[a] = member.get(a, 0.0) + seconds
            seconds = member[a]
        slowest[family] = max(slowest.get(family, 0.0), seconds)
        for k in apart:
            key = family, k, int(tiers.labels[k, order[a]])
            load[key] = load.get(key, 0.0) + size
    for family, size in sizes.items():
        of, most = members_of(grid, family), max(n for ring, n in exits.items() if ring[0] == family)
        adapters = tiers.flow_Bps[highest[family]] * of / most if most else np.inf
        slowest[family] = size / min(adapters, tiers.nvlink_Bps)
    total = 0.0
    for family, seconds in slowest.items():
        jam = max((size / tiers.uplink_Bps[k][g] for (f, k, g), size in load.items() if f == family), default=0.0)
        total += EXPOSED[family] * max(jam, seconds)
    return total


@st.composite
def instances(draw, joined=False):
    """A job on two tiers; ``joined``: on hosts that NVLink joins to domains, which may lie on several leaves; NVLink is no slower than adapters."""
    expert = draw(st.sampled_from([1, 2, 3, 4, 6]))
    context, data = draw(st.sampled_from([(1, expert), (expert, 1), (expert, 2), (2, expert), (1, 2 * expert)]))
    shards = [context * n for n in range(1, data) if data % n == 0]  # a shard group holds whole sequences, and is no whole row
    grid = NodeGrid(context, data, draw(st.integers(1, 4)), expert, draw(st.integers(1, 2)) if joined else 1, draw(st.sampled_from([1, *shards])))
    sizes = [draw(st.sampled_from([0.0, 1.0, 3.5])) for _ in range(5)]
    traffic = Traffic(sizes[0], sizes[1], sizes[2], sizes[3], draw(st.booleans()), sizes[4])
    pods = draw(st.sampled_from([[0, 0, 1, 1], [0, 1, 1, 2], [1, 0, 1, 0], [0, 0, 0, 0]]))
    hosts = grid.nodes + draw(st.integers(0, 3))
    tiers = two_tiers([draw(st.integers(0, 3)) for _ in range(hosts)], pods, draw(st.sampled_from([0.5, 2.0, np.inf])))
    order = np.array(draw(st.permutations(range(hosts)))[: grid.nodes])
    if not joined:
        return tiers, grid, traffic, order
    domain = np.full(hosts, hosts)  # the idle ones: one domain of their own
    teams = [draw(st.integers(0, 3)) for _ in range(grid.nodes // grid.tensor)]  # each tensor group lies in one
    domain[order] = np.repeat(teams, grid.tensor)
    return replace(tiers, domain=domain, nvlink_Bps=draw(st.sampled_from([1.0, 5.0, np.inf]))), grid, traffic, order


@given(st.one_of(instances(), instances(joined=True)))
def test_the_cost_equals_a_count_of_single_messages(instance):
    tiers, grid, traffic, order = instance
    assert cost(tiers, grid, traffic, order, EXPOSED).total_s == pytest.approx(slow_cost(tiers, grid, traffic, order), rel=1e-9)


@given(st.one_of(instances(), instances(joined=True)))
def test_bytes_by_tier_equal_a_count_of_single_messages(instance):
    tiers, grid, traffic, order = instance
    counted = [0.0, 0.0]
    for _, a, b, size in messages(grid, traffic):
        if tiers.joined[order[a]] != tiers.joined[order[b]]:
            for k in range(2):
                counted[k] += size * bool(tiers.labels[k, order[a]] != tiers.labels[k, order[b]])
    assert cost(tiers, grid, traffic, order, EXPOSED).bytes_by_tier == pytest.approx(tuple(counted), rel=1e-9)


def test_every_order_of_a_tiny_instance_costs_what_the_slow_count_says():
    tiers = two_tiers([0, 0, 1, 1, 2, 2], [0, 0, 1])
    grid, traffic = NodeGrid(1, 3, 2), Traffic(4.0, 0.0, 1.0, 0.0, False)
    costs = {order: cost(tiers, grid, traffic, np.array(order), EXPOSED).total_s for order in permutations(range(6))}
    assert costs == pytest.approx({order: slow_cost(tiers, grid, traffic, order) for order in costs}, rel=1e-9)
    assert len({round(value, 9) for value in costs.values()}) > 1


def test_a_ring_that_follows_the_leaves_enters_each_once_and_a_dealt_one_at_every_host():
    tiers, grid, traffic = two_tiers([0] * 4 + [1] * 4, [0, 0]), NodeGrid(1, 8, 1), Traffic(8.0, 0.0, 0.0, 0.0, False)
    along = cost(tiers, grid, traffic, np.arange(8), EXPOSED)
    dealt = cost(tiers, grid, traffic, np.array([0, 4, 1, 5, 2, 6, 3, 7]), EXPOSED)
    assert (along.ring_entries, dealt.ring_entries) == (1, 4)
    assert (along.cross_leaf_bytes, dealt.cross_leaf_bytes) == (16.0, 64.0)


def test_the_family_names_the_tier_and_the_group_that_set_its_time():
    tiers = two_tiers([0, 0, 1, 1], [0, 1], uplink=100.0, pod_uplink=0.5)
    (dp,) = cost(tiers, NodeGrid(1, 4, 1), Traffic(2.0, 0.0, 0.0, 0.0, False), np.array([0, 1, 2, 3]), EXPOSED).families
    assert (dp.slowest_tier, dp.busiest) == ("pod", "pod0")
    assert (dp.slowest_s, dp.congestion_s, dp.seconds) == pytest.approx((2.5, 4.0, 1.6))


def test_a_job_inside_one_group_crosses_nothing():
    (dp,) = cost(two_tiers([0, 0], [0]), NodeGrid(1, 2, 1), Traffic(2.0, 0.0, 0.0, 0.0, False), np.array([0, 1]), EXPOSED).families
    assert (dp.slowest_tier, dp.busiest, dp.bytes_by_tier, dp.ring_entries) == (None, None, (0.0, 0.0), 0)


def test_a_host_taken_twice_is_refused():
    with pytest.raises(ValueError, match="3 different hosts"):
        cost(two_tiers([0, 0, 1], [0, 0]), NodeGrid(1, 3, 1), Traffic(1.0, 0.0, 0.0, 0.0, False), np.array([0, 1, 1]), EXPOSED)


def test_an_expert_group_over_the_end_of_a_row_is_refused():
    with pytest.raises(ValueError, match="expert group"):
        cost(two_tiers([0, 0, 1], [0, 0]), NodeGrid(1, 3, 1, 2), Traffic(1.0, 0.0, 0.0, 1.0, False), np.array([0, 1, 2]), EXPOSED)


def test_shard_groups_that_lie_in_leaves_leave_the_all_reduce_to_the_switches_above():
    """Two groups of two: by leaves only the two rings between the groups go up, 2 bytes there and back for each; dealt, the rings inside do."""
    tiers, grid, traffic = two_tiers([0, 0, 1, 1], [0, 0]), NodeGrid(1, 4, 1, shard=2), Traffic(2.0, 0.0, 0.0, 0.0, False, shard=8.0)
    within = {f.family: f for f in cost(tiers, grid, traffic, np.arange(4), EXPOSED).families}
    across = {f.family: f for f in cost(tiers, grid, traffic, np.array([0, 2, 1, 3]), EXPOSED).families}
    assert (within["dp"].bytes_by_tier[0], within["fs"].bytes_by_tier[0]) == (8.0, 0.0)
    assert (across["dp"].bytes_by_tier[0], across["fs"].bytes_by_tier[0]) == (0.0, 32.0)
    assert (within["dp"].ring_entries, within["fs"].slowest_tier, across["fs"].slowest_tier) == (1, None, "leaf")


@pytest.mark.parametrize("expert", [1, 8, 64])
def test_a_placement_of_12288_nodes_is_scored_in_tens_of_milliseconds(expert):
    hosts = 12_288
    tiers = two_tiers([h // 32 for h in range(hosts)], [leaf // 12 for leaf in range(hosts // 32)])
    grid, traffic = NodeGrid(2, 384, 16, expert), Traffic(1.0, 1.0, 1.0, 1.0, True)
    order = np.random.default_rng(7).permutation(hosts)
    seconds = []
    for _ in range(5):
        start = time.process_time()
        cost(tiers, grid, traffic, order, EXPOSED)
        seconds.append(time.process_time() - start)
    assert min(seconds) < 0.03


def test_links_between_two_groups_of_a_dragonfly_count_by_themselves():
    """Three groups of two hosts, two rings of three through all of them in the same turn: each group sends both to one other."""
    labels = np.array([[0, 0, 1, 1, 2, 2]])
    pair = np.where(np.eye(3, dtype=bool), np.inf, 0.5)
    tiers = Tiers(("group",), (("a", "b", "c"),), labels, (np.full(3, 1.0),), np.array([100.0, 100.0]), pair_Bps=pair)
    grid, traffic = NodeGrid(1, 3, 2), Traffic(1.0, 0.0, 0.0, 0.0, False)
    same = cost(tiers, grid, traffic, np.array([0, 2, 4, 1, 3, 5]), {"dp": 1.0})
    turned = cost(tiers, grid, traffic, np.array([0, 2, 4, 1, 5, 3]), {"dp": 1.0})
    assert (same.total_s, same.families[0].busiest) == (4.0, "a to b")  # two rings over half a byte a second, where the sum of the links would take two seconds
    assert turned.total_s == 2.0


def test_expert_groups_and_pipelines_load_the_links_between_groups_both_ways():
    labels = np.array([[0, 0, 0, 1]])
    pair = np.array([[np.inf, 0.5], [2.0, np.inf]])
    tiers = Tiers(("group",), (("a", "b"),), labels, (np.full(2, np.inf),), np.array([100.0, 100.0]), pair_Bps=pair)
    experts = cost(tiers, NodeGrid(1, 4, 1, 4), Traffic(0.0, 0.0, 0.0, 3.0, False), np.arange(4), {"ep": 1.0})
    assert (experts.total_s, experts.families[0].busiest) == (6.0, "a to b")  # each of three sends a third of 3 bytes to the fourth
    columns = cost(tiers, NodeGrid(1, 2, 2), Traffic(0.0, 0.0, 1.0, 0.0, False), np.arange(4), {"pp": 1.0})
    assert (columns.total_s, columns.families[0].busiest) == (2.0, "a to b")


def test_activations_of_one_pipeline_and_gradients_of_another_share_a_link():
    """One pipeline goes from a to b and the other from b to a: over each link the activations of the one and the gradients of the other."""
    pair = np.where(np.eye(2, dtype=bool), np.inf, 0.5)
    tiers = Tiers(("group",), (("a", "b"),), np.array([[0, 0, 1, 1]]), (np.full(2, np.inf),), np.array([100.0, 100.0]), pair_Bps=pair)
    assert cost(tiers, NodeGrid(1, 2, 2), Traffic(0.0, 0.0, 1.0, 0.0, False), np.array([0, 2, 3, 1]), {"pp": 1.0}).total_s == 4.0
