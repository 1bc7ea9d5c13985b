"""Trying every placement that differs, against trying every order of hosts one by one in plain Python."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from itertools import permutations, product
from math import factorial, inf, prod

import numpy as np
import pytest

from iacgen.placement.assumptions import EXPOSED
from iacgen.placement.bins import bins
from iacgen.placement.choice import choose
from iacgen.placement.cost import cost
from iacgen.placement.enumerate import MOST, assignments, enumerated
from iacgen.placement.tiers import Tiers
from iacgen.placement.ways import Ways
from iacgen.training.traffic import NodeGrid, Traffic


def tree(leaves: list[int], pods: list[int], up: list[float], pod_up: list[float], domain: list[int] | None = None, nvlink: float = inf, pairs=None) -> Tiers:
    """Hosts on the given leaves, leaf i in pod ``pods[i]``; flows of 1, 0.9 and 0.7 byte/s. ``pairs``: rates from pod to pod."""
    names = (tuple(f"leaf{i}" for i in range(len(pods))), tuple(f"pod{i}" for i in range(len(pod_up))))
    labels = np.array([leaves, [pods[leaf] for leaf in leaves]])
    joined = None if domain is None else np.array(domain)
    return Tiers(("leaf", "pod"), names, labels, (np.array(up), np.array(pod_up)), np.array([1.0, 0.9, 0.7]), joined, nvlink, pairs)


def groups(grid: NodeGrid, traffic: Traffic):
    """(family, kind, members, bytes) of each group of virtual nodes, v = t + T * (c + C * (d + D * p))."""
    tensor, context, data, stages = grid.tensor, grid.context, grid.data, grid.pipeline
    number = {(t, c, d, p): t + tensor * (c + context * (d + data * p)) for t, c, d, p in product(range(tensor), range(context), range(data), range(stages))}
    for t, p in product(range(tensor), range(stages)):
        row = [number[t, c, d, p] for d in range(data) for c in range(context)]
        groups = [row[i : i + grid.shard] for i in range(0, len(row), grid.shard)]
        if traffic.data and len(groups) > 1:
            yield from (("dp", "ring", list(ring), traffic.data) for ring in zip(*groups, strict=True))
        if traffic.shard and grid.shard > 1:
            yield from (("fs", "ring", group, traffic.shard) for group in groups)
    if traffic.context and context > 1:
        for t, d, p in product(range(tensor), range(data), range(stages)):
            yield "cp", "ring", [number[t, c, d, p] for c in range(context)], traffic.context
    if traffic.pipeline and stages > 1:
        for t, c, d in product(range(tensor), range(context), range(data)):
            yield "pp", "closed" if traffic.pipeline_ring and stages > 2 else "chain", [number[t, c, d, p] for p in range(stages)], traffic.pipeline
    if traffic.expert and grid.expert > 1:
        for first in range(0, grid.nodes, grid.expert):
            yield "ep", "all", list(range(first, first + grid.expert)), traffic.expert


def sends(kind: str, m: list[int], size: float):
    """(sender, receiver, bytes) of one group."""
    after = list(zip(m, m[1:], strict=False))
    if kind == "all":
        return [(a, b, size / (len(m) - 1)) for a, b in permutations(m, 2)]
    if kind != "chain":
        after.append((m[-1], m[0]))
    return [(a, b, size) for a, b in after] + ([] if kind == "ring" else [(b, a, size) for a, b in after])


def plain_cost(tiers: Tiers, grid: NodeGrid, traffic: Traffic, hosts: tuple[int, ...]) -> tuple[float, float, float] | None:
    """(seconds, bytes leaving pods, bytes leaving leaves), message by message; None where a tensor group is split."""
    joined = list(range(tiers.hosts)) if tiers.domain is None else tiers.domain.tolist()
    if any(len({joined[hosts[v]] for v in range(first, first + grid.tensor)}) > 1 for first in range(0, grid.nodes, grid.tensor) if grid.tensor > 1):
        return None
    labels, flow = tiers.labels.tolist(), tiers.flow_Bps.tolist()
    load, slow, ring_worst = Counter(), Counter(), {}
    for family, kind, members, size in groups(grid, traffic):
        member: Counter[int] = Counter()
        out = 0
        for a, b, bytes_ in sends(kind, members, size):
            x, y = hosts[a], hosts[b]
            far = joined[x] != joined[y]
            apart = [k for k in (0, 1) if far and labels[k][x] != labels[k][y]]
            level = max(apart, default=-1) + 1
            for k in apart:
                load[family, k, labels[k][x]] += bytes_
            if 0 in apart and tiers.ways is not None:
                for link, share in zip(tiers.ways.link[way := tiers.ways.pair == 3 * labels[0][x] + labels[0][y]], tiers.ways.share[way], strict=True):
                    load[family, 3, link] += share * bytes_
            if 1 in apart and tiers.pair_Bps is not None:
                load[family, 2, (labels[1][x], labels[1][y])] += bytes_
            out += far
            seconds = bytes_ / (flow[level] if far else tiers.nvlink_Bps)
            member[a] += seconds
            if kind in ("chain", "closed"):
                slow[family] = max(slow[family], seconds)
            if kind == "ring":  # its members share their adapters where the ring leaves a domain
                worst = ring_worst.setdefault(family, [0, 0, size, len(members)])
                worst[:2] = max(worst[0], level), max(worst[1], out)
        if kind == "all":
            slow[family] = max(slow[family], *member.values())
    for family, (level, out, size, length) in ring_worst.items():
        slow[family] = size / (min(flow[level] * length / out, tiers.nvlink_Bps) if out else tiers.nvlink_Bps)
    links = [*tiers.uplink_Bps, tiers.pair_Bps, tiers.ways and np.full(9, tiers.ways.Bps)]
    total = sum(EXPOSED[f] * max([slow[f]] + [bytes_ / links[k][g] for (e, k, g), bytes_ in load.items() if e == f]) for f in slow)
    return total, *(sum(bytes_ for (_, tier, _), bytes_ in load.items() if tier == k) for k in (1, 0))


def instance(seed: int) -> tuple[Tiers, NodeGrid, Traffic]:
    """Up to six nodes on up to seven hosts, three leaves and two pods, or three groups of a dragonfly; domains of two or three hosts in half;
    shard groups in those after the first eighty."""
    rng = np.random.default_rng(seed)
    shapes = [(1, 2, 2, 2), (2, 1, 2, 2), (1, 5, 1, 1), (1, 3, 2, 3), (2, 3, 1, 2), (1, 2, 3, 1), (1, 1, 4, 1), (1, 4, 1, 4), (1, 2, 1, 1, 2), (2, 1, 1, 1, 3)]
    if seed >= 80:
        shapes = [(1, 4, 1, 1, 1, 2), (1, 6, 1, 1, 1, 3), (1, 6, 1, 1, 1, 2), (2, 2, 1, 1, 1, 2), (2, 3, 1, 2, 1, 2), (1, 4, 1, 2, 1, 2), (1, 4, 1, 1, 1, 2)]
    grid = NodeGrid(*shapes[seed % len(shapes)])
    hosts = grid.nodes + int(rng.integers(0, 2 if grid.nodes == 6 else 3))
    sizes = rng.choice([0.0, 1.0, 2.5], 4, p=[0.2, 0.4, 0.4])
    traffic = Traffic(*map(float, sizes), bool(rng.integers(2)), float(rng.choice([1.0, 2.5])) if grid.shard > 1 else 0.0)
    leaves = sorted(rng.integers(0, 3, hosts).tolist())
    domain = None
    if seed // len(shapes) % 2 or grid.tensor > 1:
        domain = rng.permutation([h // max(grid.tensor, 2) for h in range(hosts)]).tolist() if seed % 3 else [h // max(grid.tensor, 2) for h in range(hosts)]
    up = rng.choice([0.5, 1.0, 3.0, inf], 3 if seed % 2 else 1).tolist() * (1 if seed % 2 else 3)
    if seed % 4 == 3 and not domain:  # a dragonfly of three groups
        pairs = rng.choice([0.3, 0.8], (3, 3)) if seed % 8 == 3 else np.full((3, 3), 0.5)
        return tree(leaves, [0, 1, 2], up, [2.0] * 3, pairs=pairs), grid, traffic
    return tree(leaves, [0, 0, 1], up, rng.choice([0.4, 2.0, inf], 2).tolist(), domain, 4.0 if domain else inf), grid, traffic


@pytest.mark.parametrize("seed", range(120))
def test_nothing_beats_it_among_all_orders_of_hosts(seed):
    tiers, grid, traffic = instance(seed)
    tried = [c for hosts in permutations(range(tiers.hosts), grid.nodes) if (c := plain_cost(tiers, grid, traffic, hosts))]
    found = enumerated(tiers, grid, traffic)
    if not tried:
        assert found is None
        return
    least = min(seconds for seconds, *_ in tried)
    bytes_ = min(moved for seconds, *moved in tried if seconds <= least * (1 + 1e-9))
    order, paid = found
    assert paid.total_s == pytest.approx(least, rel=1e-9)
    assert paid.bytes_by_tier == pytest.approx(tuple(reversed(bytes_)), rel=1e-9)
    assert plain_cost(tiers, grid, traffic, tuple(order.tolist())) == pytest.approx((least, *bytes_), rel=1e-9)
    assert paid == cost(tiers, grid, traffic, order)


def unlike_links(seed: int) -> Ways:
    """From each of three leaves to each: half of the bytes over one of nine links, half over another."""
    pair = np.repeat([a * 3 + b for a, b in permutations(range(3), 2)], 2)
    link = np.random.default_rng(seed).integers(0, 9, 12)
    return Ways(3, pair, link, np.full(12, 0.5), 0.4, tuple((f"a{i}", f"b{i}") for i in range(9)))


@pytest.mark.parametrize("seed", range(1, 80, 3))
def test_each_link_of_a_dragonfly_counts(seed):
    tiers, grid, traffic = instance(seed)
    tiers = replace(tiers, ways=unlike_links(seed))
    least = min(c[0] for h in permutations(range(tiers.hosts), grid.nodes) if (c := plain_cost(tiers, grid, traffic, h)))
    order, paid = enumerated(tiers, grid, traffic)
    assert paid.total_s == pytest.approx(least, rel=1e-9)
    assert plain_cost(tiers, grid, traffic, tuple(order.tolist()))[0] == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("seed", [7, 11, 23, 27, 47, 51])
def test_a_small_job_on_a_dragonfly_of_known_links_gets_the_best_of_all(seed):
    tiers, grid, traffic = instance(seed)
    tiers = replace(tiers, ways=unlike_links(seed))
    choice = choose(tiers, grid, traffic)
    assert choice.cost.total_s == pytest.approx(enumerated(tiers, grid, traffic)[1].total_s, rel=1e-9)
    assert choice.bound.proves(choice.cost.total_s)


def mixed(tiers: Tiers, grid: NodeGrid, hosts: tuple[int, ...]) -> int:
    """Stages that run on two types of GPU."""
    return sum(len({int(tiers.kind[h]) for h in hosts[first : first + grid.row]}) > 1 for first in range(0, grid.nodes, grid.row))


@pytest.mark.parametrize("seed", range(0, 80, 3))
def test_of_two_types_of_gpus_fewer_mixed_stages_come_before_time(seed):
    tiers, grid, traffic = instance(seed)
    tiers = replace(tiers, kind=np.random.default_rng(seed).integers(0, 2, tiers.hosts))
    tried = [(mixed(tiers, grid, h), *c) for h in permutations(range(tiers.hosts), grid.nodes) if (c := plain_cost(tiers, grid, traffic, h))]
    fewest = min(t[0] for t in tried)
    order, paid = enumerated(tiers, grid, traffic)
    assert mixed(tiers, grid, tuple(order.tolist())) == fewest
    assert paid.total_s == pytest.approx(min(t[1] for t in tried if t[0] == fewest), rel=1e-9)


def test_a_recorded_case_is_solved_and_those_with_too_many_are_left(case):
    found = enumerated(case.tiers, case.grid, case.traffic, case.exposed)
    if found is None:
        assert multinomial(case.grid.nodes, np.bincount(case.tiers.labels[0]).tolist()) > MOST
    else:
        assert found[1].total_s == pytest.approx(case.data["best_known"]["cost_s"], rel=1e-9)


def multinomial(nodes: int, sizes: list[int]) -> int:
    """Ways to give distinct nodes to bins of these sizes."""
    fills = (fill for fill in product(*(range(size + 1) for size in sizes)) if sum(fill) == nodes)
    return sum(factorial(nodes) // prod(map(factorial, fill)) for fill in fills)


def test_unlike_leaves_are_tried_in_every_way():
    tiers = tree([0, 0, 0, 1, 1, 1, 2, 2], [0, 0, 1], [1.0, 2.0, 1.0], [1.0, 1.0])
    tried = assignments(bins(tiers), NodeGrid(1, 3, 2))
    assert len(tried) == len({tuple(row) for row in tried.tolist()}) == multinomial(6, [3, 3, 2])


def test_of_leaves_and_pods_that_are_alike_one_stands_for_all():
    """Two equal pods of a pair of equal leaves and a bigger one: each assignment as sets of sets, which have no names."""
    pods, sizes = [0, 0, 0, 1, 1, 1], [1, 1, 2, 1, 1, 2]
    tiers = tree([leaf for leaf, size in enumerate(sizes) for _ in range(size)], pods, [1.0] * 6, [2.0, 2.0])
    nameless = set()
    for rows in product(range(6), repeat=5):
        held = [frozenset(v for v in range(5) if rows[v] == leaf) for leaf in range(6)]
        if all(len(h) <= size for h, size in zip(held, sizes, strict=True)):
            parts = [tuple(sorted((sizes[leaf], sorted(held[leaf])) for leaf in range(6) if pods[leaf] == pod)) for pod in (0, 1)]
            nameless.add(repr(sorted(parts)))
    assert len(assignments(bins(tiers), NodeGrid(1, 5, 1))) == len(nameless) < multinomial(5, sizes) / 4


def test_too_many_are_refused_without_a_try_and_the_number_is_exact():
    tiers, grid = tree([0] * 4 + [1] * 5, [0, 0], [1.0, 1.0], [inf]), NodeGrid(1, 8, 1)
    ways = multinomial(8, [4, 5])
    assert enumerated(tiers, grid, Traffic(1.0, 0, 0, 0, False), most=ways) is not None
    assert enumerated(tiers, grid, Traffic(1.0, 0, 0, 0, False), most=ways - 1) is None
    big = tree([h // 32 for h in range(12_800)], [leaf // 20 for leaf in range(400)], [float(leaf + 1) for leaf in range(400)], [1.0] * 20)
    start = time.process_time()
    assert enumerated(big, NodeGrid(1, 768, 16), Traffic(1.0, 0, 1.0, 0, False)) is None
    assert time.process_time() - start < 1.0


def test_tensor_groups_that_fit_no_domain_leave_nothing():
    split = tree([0, 0, 1, 1], [0, 0], [1.0, 1.0], [inf], [0, 1, 1, 2], 4.0)
    assert enumerated(split, NodeGrid(1, 1, 2, tensor=2), Traffic(0, 0, 1.0, 0, False)) is None
    order, _ = enumerated(split, NodeGrid(1, 1, 1, tensor=2), Traffic(0, 0, 0, 0, False))
    assert sorted(order) == [1, 2]


def test_a_hundred_thousand_assignments_of_twelve_nodes_take_well_under_a_second():
    tiers = tree([0] * 5 + [1] * 4 + [2] * 5, [0, 0, 0], [1.0, 1.5, 2.0], [inf])
    held, grid = bins(tiers), NodeGrid(1, 4, 3)
    assert len(assignments(held, grid)) == multinomial(12, [5, 4, 5]) == 162_162
    start = time.process_time()
    enumerated(tiers, grid, Traffic(4.0, 0, 1.0, 0, False))
    assert time.process_time() - start < 2.0


def test_a_domain_that_lies_on_several_leaves_has_no_twin():
    """Hosts 0 and 1 look alike from their leaf; but only the second is of the domain that holds all three nodes."""
    tiers = tree([0, 0, 1, 2, 2], [0, 0, 0], [1.0] * 3, [inf], [0, 1, 0, 1, 1], 4.0)
    order, paid = enumerated(tiers, NodeGrid(1, 3, 1), Traffic(1.0, 0, 0, 0, False))
    assert (sorted(order), paid.total_s) == ([1, 3, 4], pytest.approx(EXPOSED["dp"] / 4.0))


def test_groups_of_a_dragonfly_with_unlike_links_have_no_twins():
    slow, fast = np.full((3, 3), 0.1), np.full((3, 3), 0.1)
    fast[1, 2] = fast[2, 1] = 0.2
    equal, unlike = (tree([0, 0, 1, 1, 2, 2], [0, 1, 2], [inf] * 3, [inf] * 3, pairs=pairs) for pairs in (slow, fast))
    ring = NodeGrid(1, 4, 1), Traffic(1.0, 0, 0, 0, False)
    assert (len(bins(equal).twins), len(bins(unlike).twins)) == (2, 0)
    assert enumerated(equal, *ring)[1].total_s == pytest.approx(EXPOSED["dp"] / 0.1)
    order, paid = enumerated(unlike, *ring)
    assert (sorted(order), paid.total_s) == ([2, 3, 4, 5], pytest.approx(EXPOSED["dp"] / 0.2))
