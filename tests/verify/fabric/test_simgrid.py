"""Collectives over the routes that real opensm chose, timed by SimGrid: against theory, against the count of flows, against placement."""

import random
from dataclasses import replace

import numpy as np
import pytest

from iacgen.placement.cost import cost
from iacgen.placement.tiers import of_fabric as tiers_of
from iacgen.training.traffic import NodeGrid, Traffic
from iacgen.verify import programs
from iacgen.verify.fabric.collectives import VOLUME, Collective, all_to_all, predicted_s, ring
from iacgen.verify.fabric.plan import of_fabric
from iacgen.verify.fabric.settings import planned
from iacgen.verify.fabric.simgrid import judge_collectives, simulated_s

pytestmark = pytest.mark.judge("simgrid", "opensm")
FOUR_TO_ONE = {"units": 2, "rails": 4, "hosts": 8, "spines": 2, "parallel": 1, "radix": 16}  # 64 adapters, 8 ports down and 2 up


@pytest.fixture(scope="module")
def timed(fabrics):
    """(plan, engine) → seconds of both collectives as SimGrid has them, and the routes."""

    def ask(plan, engine="ftree"):
        seen, _, _ = fabrics.examine(plan, planned(plan, engine))
        python = programs.find("simgrid").path
        return [simulated_s(plan, seen.routes, collective(plan), python)[0] for collective in (ring, all_to_all)], seen.routes

    return ask


def test_theory_of_four_ranks_by_hand(fabrics):
    """1 GB over 50 GB/s: 2 x 3/4 of 20 ms for the ring, 3/4 of 20 ms for the all-to-all."""
    plan = fabrics.rails(units=1, rails=1, hosts=4, spines=1, parallel=4, radix=8)
    assert ring(plan).theory_s == pytest.approx(0.030) and all_to_all(plan).theory_s == pytest.approx(0.015)


def test_what_the_adapters_themselves_need_is_foreseen(fabrics, timed):
    """On one leaf nothing meets between switches: a ring takes what theory says; two that send to the same one take twice the time."""
    plan = fabrics.rails(units=1, rails=1, hosts=4, spines=1, parallel=4, radix=8)
    _, routes = timed(plan, "minhop")
    a, b, c, _ = plan.order
    assert predicted_s(plan, routes, ring(plan)) == pytest.approx(ring(plan).theory_s)
    both = Collective("both to one", (((a, c), (b, c)),), VOLUME, 1.0, 0.02)
    seconds, said = simulated_s(plan, routes, both, programs.find("simgrid").path)
    assert predicted_s(plan, routes, both) == pytest.approx(0.04) == seconds, said


@pytest.mark.parametrize(("shape", "sizes"), [("rails", {}), ("cubic", {"radix": 8}), ("rails", {"absent": 1})])
def test_a_tree_at_one_to_one_is_as_fast_as_its_adapters(fabrics, timed, shape, sizes):
    """256 adapters by rails, with and without a gap, and 128 in three tiers: both collectives within 2 % of theory."""
    plan = getattr(fabrics, shape)(**sizes)
    (rings, all_pairs), _ = timed(plan)
    assert rings <= 1.02 * ring(plan).theory_s and rings >= ring(plan).theory_s * 0.9999
    assert all_pairs <= 1.02 * all_to_all(plan).theory_s


def test_a_ring_hides_bad_routes_and_an_all_to_all_shows_them(fabrics, timed):
    """updn on three tiers: no slower as a ring, 3.6 times as an all-to-all (measured before: 71.9 against 19.84 ms)."""
    plan = fabrics.cubic(8)
    (rings, all_pairs), routes = timed(plan, "updn")
    assert rings == pytest.approx(ring(plan).theory_s, rel=0.02)
    assert all_pairs == pytest.approx(0.0719, rel=0.05)
    assert {f.slug for f in judge_collectives(plan, routes, programs.find("simgrid").path, ())} == {"slow-collective"}


def test_at_four_to_one_the_prediction_holds_in_every_order(fabrics, timed):
    """In the placed order a ring costs what it costs at 1:1, and is at least 3 times faster than in the mean of five random ones."""
    plan = fabrics.rails(**FOUR_TO_ONE)
    shuffled = []
    for seed in range(5):
        hosts = sorted({name.split()[0] for name in plan.order})
        random.Random(seed).shuffle(hosts)
        shuffled.append(replace(plan, order=tuple(f"{host} mlx5_{r}" for host in hosts for r in range(4))))
    times = []
    for order in (plan, *shuffled):
        (rings, all_pairs), routes = timed(order)
        assert rings == pytest.approx(predicted_s(order, routes, ring(order)), rel=0.05)
        assert all_pairs == pytest.approx(predicted_s(order, routes, all_to_all(order)), rel=0.05)
        times.append(rings)
    assert times[0] <= 1.02 * ring(plan).theory_s
    assert np.mean(times[1:]) >= 3 * times[0]


def test_what_placement_counts_is_what_the_fabric_does(fabrics, timed):
    """The designer's own 4:1 fabric (two units of 16 nodes, 256 adapters), a ring whose every edge crosses between the units.

    Placement's model knows bytes that leave a unit and the bandwidth of its uplinks; SimGrid knows flows on opensm's static routes.
    """
    fabric = fabrics.designed(32, topology="rail-fat-tree", unit=16, oversubscription=4)
    hosts = [f"gpu{(i % 2) * 16 + i // 2 + 1:04d}" for i in range(32)]
    volume = 8 * 2 * 31 / 32 * VOLUME  # a node sends 2 (n - 1) / n of what each of its eight ranks has
    grid, traffic = NodeGrid(context=1, data=32, pipeline=1), Traffic(volume, 0.0, 0.0, 0.0, False)
    counted = cost(tiers_of(fabric, "gpu", hosts), grid, traffic, np.arange(32), dict.fromkeys(("dp", "pp", "cp", "ep"), 1.0))
    (rings, _), _ = timed(of_fabric(fabric, hosts))
    assert rings > 3 * ring(of_fabric(fabric, hosts)).theory_s
    assert rings == pytest.approx(counted.families[0].congestion_s, rel=0.05) and counted.families[0].congestion_s == counted.total_s


def test_a_bad_order_is_a_slow_collective(fabrics, timed):
    plan = fabrics.rails(**FOUR_TO_ONE)
    hosts = [f"gpu{(i % 2) * 8 + i // 2:04d}" for i in range(16)]
    order = replace(plan, order=tuple(f"{host} mlx5_{r}" for host in hosts for r in range(4)))
    _, routes = timed(order)
    python = programs.find("simgrid").path
    assert {f.slug for f in judge_collectives(order, routes, python, ())} == {"slow-collective"}
    assert not list(judge_collectives(plan, routes, python, ()))


def test_a_prediction_for_other_routes_is_off(fabrics, timed, monkeypatch):
    plan = fabrics.cubic(8)
    _, routes = timed(plan)
    monkeypatch.setattr("iacgen.verify.fabric.simgrid.predicted_s", lambda *_: 1.0)
    assert {f.slug for f in judge_collectives(plan, routes, programs.find("simgrid").path, ())} == {"prediction-off"}
