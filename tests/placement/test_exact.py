"""The exact solver against every placement tried, against recorded optima, and stopped halfway."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import permutations
from math import inf

import numpy as np
import pytest

from iacgen.placement.assumptions import EXPOSED
from iacgen.placement.bins import bins
from iacgen.placement.bound import lower_bound
from iacgen.placement.choice import choose
from iacgen.placement.cost import cost, whole
from iacgen.placement.enumerate import assignments, enumerated
from iacgen.placement.exact import SAME, prove
from iacgen.placement.tiers import Tiers
from iacgen.placement.ways import Ways
from iacgen.training.traffic import NodeGrid, Traffic

SHAPES = [
    NodeGrid(1, 4, 2),
    NodeGrid(2, 2, 2),
    NodeGrid(1, 3, 3),
    NodeGrid(1, 4, 2, expert=4),
    NodeGrid(2, 3, 1, expert=3),
    NodeGrid(1, 2, 4),
    NodeGrid(1, 6, 1, expert=2),
    NodeGrid(3, 2, 1),
    NodeGrid(1, 3, 2, expert=3),
    NodeGrid(1, 2, 2, tensor=2),
    NodeGrid(2, 1, 2, expert=2, tensor=2),
]


def instance(seed: int) -> tuple[Tiers, NodeGrid, Traffic]:
    """Six to nine nodes on hosts of three leaves, by turns: one tier, two tiers, NVLink domains within leaves, domains over leaves, and the
    three groups of a dragonfly."""
    rng, kind = np.random.default_rng(1000 + seed), ["one", "two", "within", "over", "dragonfly"][seed % 5]
    grid = SHAPES[seed % len(SHAPES)]
    if grid.tensor > 1 and kind != "over" or grid.nodes > 8 and kind == "over":
        kind = "within"
    hosts = grid.nodes + int(rng.integers(0, 2 if kind == "over" else 4)) + (3 if grid.tensor > 1 else 0)
    labels = np.stack([leaf := np.sort(rng.integers(0, 3, hosts)), leaf if kind == "dragonfly" else leaf // 2])
    uplinks = (rng.choice([0.5, 1.0, 3.0], 3) if rng.integers(2) else np.full(3, 1.0), rng.choice([0.4, 1.5, inf], 3 if kind == "dragonfly" else 2))
    domain = None
    if kind == "within":
        domain = leaf * hosts + np.concatenate([np.arange(n) // 2 for n in np.bincount(leaf, minlength=3)])
    if kind == "over":
        domain = rng.permutation(hosts) // 2
    pairs = rng.choice([0.3, 0.8], (3, 3)) if kind == "dragonfly" else None
    traffic = Traffic(*map(float, rng.choice([0.5, 1.0, 2.5], 4)), bool(rng.integers(2)))
    names = (("l0", "l1", "l2"), ("p0", "p1", "p2")[: len(uplinks[1])])
    tiers = 1 if kind == "one" else 2
    flow = np.array([1.0, 0.9, 0.7])[: tiers + 1]
    return Tiers(("leaf", "pod")[:tiers], names[:tiers], labels[:tiers], uplinks[:tiers], flow, domain, 4.0 if domain is not None else inf, pairs), grid, traffic


def sharded(seed: int) -> tuple[Tiers, NodeGrid, Traffic]:
    """The same fabrics under rows of shard groups, two hosts or three in each."""
    tiers, grid, traffic = instance(seed)
    grid = {8: NodeGrid(1, 4, 2, shard=2), 9: NodeGrid(3, 3, 1, shard=3)}.get(grid.nodes, NodeGrid(1, 6, 1, shard=2 + seed % 2))
    return tiers, grid, replace(traffic, shard=[0.7, 1.5][seed % 2])


def first(tiers: Tiers, grid: NodeGrid) -> np.ndarray:
    """Some placement: the last of all."""
    return bins(tiers).order(assignments(bins(tiers), grid)[-1])


@pytest.mark.parametrize("seed", range(50))
def test_it_finds_the_least_of_all_and_proves_it(seed):
    tiers, grid, traffic = instance(seed)
    order, paid = enumerated(tiers, grid, traffic)
    proof = prove(tiers, grid, traffic, EXPOSED, hint=first(tiers, grid), limit_s=20)
    assert proof.optimal and proof.cost_s == pytest.approx(paid.total_s, rel=SAME)
    assert paid.total_s * (1 - SAME) <= proof.bound_s <= paid.total_s
    assert proof.cost_s == cost(tiers, grid, traffic, proof.order).total_s and whole(tiers, grid, proof.order)


@pytest.mark.parametrize("seed", [seed for seed in range(20) if SHAPES[seed % len(SHAPES)].tensor == 1])
def test_it_proves_the_least_of_all_with_shard_groups_too(seed):
    tiers, grid, traffic = sharded(seed)
    _, paid = enumerated(tiers, grid, traffic)
    proof = prove(tiers, grid, traffic, EXPOSED, hint=first(tiers, grid), limit_s=20)
    assert "fs" in {family.family for family in paid.families}
    assert proof.optimal and proof.cost_s == pytest.approx(paid.total_s, rel=SAME)
    assert paid.total_s * (1 - SAME) <= proof.bound_s <= paid.total_s


@pytest.mark.parametrize("seed", range(0, 50, 5))
def test_a_placement_that_is_the_best_stays(seed):
    tiers, grid, traffic = instance(seed)
    order, _ = enumerated(tiers, grid, traffic)
    proof = prove(tiers, grid, traffic, EXPOSED, hint=order, limit_s=20)
    assert proof.optimal and (proof.order == order).all()


@pytest.mark.parametrize("seed", range(0, 50, 3))
def test_stopped_at_once_the_bound_is_true_and_the_hint_stands_or_is_bettered(seed):
    tiers, grid, traffic = instance(seed)
    least, hint = enumerated(tiers, grid, traffic)[1].total_s, first(tiers, grid)
    proof = prove(tiers, grid, traffic, EXPOSED, hint=hint, limit_s=1e-4)
    assert 0 <= proof.bound_s <= least <= proof.cost_s * (1 + 1e-12) <= cost(tiers, grid, traffic, hint).total_s * (1 + 1e-12)
    assert proof.optimal == (proof.cost_s <= proof.bound_s * (1 + SAME))


@pytest.mark.parametrize("seed", [4, 9, 14, 19, 24, 29, 34, 39])
def test_each_link_of_a_dragonfly_counts(seed):
    """From each of three leaves to each: half of the bytes over one of nine links, half over another."""
    tiers, grid, traffic = instance(seed)
    pair = np.repeat([a * 3 + b for a, b in permutations(range(3), 2)], 2)
    ways = Ways(3, pair, np.random.default_rng(seed).integers(0, 9, 12), np.full(12, 0.5), 0.4, tuple((f"a{i}", f"b{i}") for i in range(9)))
    tiers = replace(tiers, ways=ways)
    paid = enumerated(tiers, grid, traffic)[1]
    proof = prove(tiers, grid, traffic, EXPOSED, hint=first(tiers, grid), limit_s=20)
    assert proof.optimal and proof.cost_s == pytest.approx(paid.total_s, rel=SAME)
    assert proof.bound_s <= paid.total_s and proof.cost_s == cost(tiers, grid, traffic, proof.order).total_s


@pytest.mark.parametrize("seed", [0, 1, 2, 5, 6, 10, 11, 13])
def test_it_mixes_no_more_stages_of_two_types_of_gpus_than_the_hint(seed):
    tiers, grid, traffic = instance(seed)
    tiers = replace(tiers, kind=(np.arange(tiers.hosts) >= tiers.hosts // 2).astype(int))
    order, paid = enumerated(tiers, grid, traffic)
    rows = bins(tiers).kind[assignments(bins(tiers), grid)].reshape(-1, grid.pipeline, grid.row)
    mixes = (rows != rows[:, :, :1]).any(axis=2).sum(axis=1)
    hint = bins(tiers).order(assignments(bins(tiers), grid)[np.flatnonzero(mixes == mixes.min())[-1]])
    proof = prove(tiers, grid, traffic, EXPOSED, hint=hint, limit_s=20)
    assert proof.optimal and proof.cost_s == pytest.approx(paid.total_s, rel=SAME)
    stages = tiers.kind[proof.order].reshape(grid.pipeline, grid.row)
    assert (stages != stages[:, :1]).any(axis=1).sum() == mixes.min()


def test_recorded_cases_are_proved_from_the_order_of_the_fabric(case):
    hint = np.lexsort((np.arange(case.tiers.hosts), *case.tiers.labels))[: case.grid.nodes]
    proof = prove(case.tiers, case.grid, case.traffic, case.exposed, hint, 60)
    assert case.data["bound"]["proved_optimal"]
    assert proof.optimal and proof.cost_s == pytest.approx(case.data["best_known"]["cost_s"], rel=SAME)


def larger(seed: int) -> tuple[Tiers, NodeGrid, Traffic]:
    """Twelve to twenty-four nodes, by turns in pods of two uneven leaves, racks of NVLink under them, and a dragonfly."""
    rng, kind = np.random.default_rng(7000 + seed), ["pods", "racks", "dragonfly"][seed % 3]
    grid = [NodeGrid(1, 4, 3), NodeGrid(2, 4, 2), NodeGrid(1, 8, 2, expert=4), NodeGrid(2, 2, 4), NodeGrid(1, 6, 4)][seed % 5]
    sizes = rng.integers(2, 9, 6)
    while not grid.nodes <= sizes.sum() <= grid.nodes + 4:
        sizes = rng.integers(2, 9, 6)
    lowest = np.repeat(np.arange(6), sizes)
    leaf = lowest // 2 if kind == "racks" else lowest
    labels = np.stack([leaf, leaf // 2])
    leaves, pods = np.bincount(leaf).astype(float), np.bincount(leaf // 2).astype(float)
    uplinks = leaves * rng.choice([0.5, 1.0]), pods * (1.0 if kind == "dragonfly" else 0.3)
    names = tuple(tuple(map(str, range(len(up)))) for up in uplinks)
    more = {"racks": (lowest, 8.0), "dragonfly": (None, inf, np.full((3, 3), 1.2))}.get(kind, ())
    traffic = Traffic(float(rng.choice([1.0, 4.0])), 1.0, float(rng.choice([0.2, 1.0])), 2.0, bool(rng.integers(2)))
    return Tiers(("leaf", "pod"), names, labels, uplinks, np.array([0.95, 0.85, 0.78]), *more), grid, traffic


@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5, 6, 7, 8, 10, 11, 13])
def test_the_counted_bound_is_true_where_placements_are_too_many_to_try(seed):
    tiers, grid, traffic = larger(seed)
    choice = choose(tiers, grid, traffic, EXPOSED)
    proof = prove(tiers, grid, traffic, EXPOSED, choice.order, 20)
    assert proof.optimal and lower_bound(tiers, grid, traffic, EXPOSED).seconds <= proof.cost_s * (1 + 1e-9)
    assert proof.bound_s <= choice.cost.total_s <= 1.1 * proof.cost_s


def test_the_same_answer_again():
    tiers, grid, traffic = instance(0)
    one, two = (prove(tiers, grid, traffic, EXPOSED, hint=first(tiers, grid), limit_s=20) for _ in range(2))
    assert (one.order == two.order).all() and (one.cost_s, one.bound_s) == (two.cost_s, two.bound_s)


@pytest.mark.parametrize("seed", range(10))
def test_exchanged_twins_cost_the_same(seed):
    """Two equal pods of two equal leaves and a bigger one, any nodes in them: the emptier go last, and nothing else changes."""
    leaf = np.repeat(np.arange(6), [1, 1, 2, 1, 1, 2])
    tiers = Tiers(("leaf", "pod"), (tuple("abcdef"), ("p", "q")), np.stack([leaf, leaf // 3]), (np.full(6, 1.0), np.full(2, 0.5)), np.array([1.0, 0.9, 0.7]))
    held, grid, traffic = bins(tiers), NodeGrid(1, 5, 1), Traffic(1.0, 0, 0, 0, False)
    order = np.random.default_rng(seed).permutation(8)[:5]
    settled = held.settled(held.assigned(order))
    number = np.bincount(settled, minlength=6)
    assert number[0] >= number[1] and number[3] >= number[4] and number[:3].sum() >= number[3:].sum()
    assert (number <= held.sizes).all() and len(held.twins) == 3
    assert cost(tiers, grid, traffic, held.order(settled)).total_s == cost(tiers, grid, traffic, order).total_s


def test_a_job_on_one_host_needs_no_proof():
    tiers, grid, traffic = instance(0)
    proof = prove(tiers, NodeGrid(1, 1, 1), Traffic(0, 0, 0, 0, False), EXPOSED, hint=np.array([2]))
    assert (proof.cost_s, proof.bound_s, proof.optimal, proof.order.tolist()) == (0.0, 0.0, True, [2])


def test_a_hint_that_is_no_placement_and_rates_that_rise_are_refused():
    tiers, grid, traffic = instance(0)
    with pytest.raises(ValueError, match="different hosts"):
        prove(tiers, grid, traffic, EXPOSED, hint=np.zeros(grid.nodes, dtype=int))
    rising = Tiers(tiers.names, tiers.groups, tiers.labels, tiers.uplink_Bps, tiers.flow_Bps[::-1])
    with pytest.raises(ValueError, match="faster"):
        prove(rising, grid, traffic, EXPOSED, hint=np.arange(grid.nodes))


def test_a_job_too_large_to_prove_is_refused_before_the_memory_is_full():
    leaf = np.arange(12_800) // 32
    big = Tiers(("leaf",), (tuple(map(str, range(400))),), leaf[None], (np.ones(400),), np.array([1.0, 0.9]))
    with pytest.raises(ValueError, match="12288 nodes on 400 groups"):
        prove(big, NodeGrid(1, 768, 16), Traffic(1.0, 0, 1.0, 0, False), EXPOSED, np.arange(12_288), 1.0)


def test_without_the_solver_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    tiers, grid, traffic = instance(0)
    with pytest.raises(ImportError, match=r"pip install 'iacgen\[prove\]'"):
        prove(tiers, grid, traffic, EXPOSED, hint=np.arange(grid.nodes))
