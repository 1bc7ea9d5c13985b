"""Failures against published figures, against sums over every state of small clusters, and against simulated years."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from fractions import Fraction
from math import comb, exp, factorial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacgen.training import checkpoints, failures
from iacgen.training.failures import Failures, chance_of_enough, effective_share, spares_for
from iacgen.training.grades import grade_needed, offered

HOUR, DAY = 3600.0, 86400.0


@pytest.mark.parametrize(("gpus", "hours"), [(16384, 1.80), (131072, 0.23)])
def test_the_series_model_of_arxiv_2410_21680(gpus, hours):
    """RSC-1: 6.50 failures in 1,000 node-days; the paper projects 1.8 h at 16,384 GPUs and 0.23 h at 131,072."""
    assert failures.mttf_s(gpus // 8, 6.50) / HOUR == pytest.approx(hours, abs=0.006)


def test_the_published_rate_of_llama_3():
    """arXiv:2407.21783: 419 unexpected interruptions in 54 days on 16,384 GPUs, one in 3.09 h."""
    per_1000 = 419 / (54 * 16384 / 8) * 1000
    assert per_1000 == pytest.approx(3.79, abs=0.005)
    assert failures.mttf_s(2048, per_1000) / HOUR == pytest.approx(3.09, abs=0.005)


def simulated(save_s, interval_s, mttf, restart_s, lives, seed=1):
    """Share of the time that goes into work which counts: saves, failures and restarts played one by one."""
    chance, clock, kept = random.Random(seed), 0.0, 0.0
    for _ in range(lives):
        left, progress = chance.expovariate(1 / mttf), 0.0  # a failure ends the life: first the restart, then stretch by stretch
        clock += left
        left -= restart_s
        while left >= interval_s + save_s:
            left -= interval_s + save_s
            progress += interval_s
        kept += progress
    return kept / clock


@pytest.mark.parametrize(
    ("save_s", "mttf", "restart_s"),
    [(30, 3.09 * HOUR, 0), (60, 3.09 * HOUR, 600), (40, 7 * DAY, 3600), (60, 0.23 * HOUR, 60)],
    ids=["llama-3", "llama-3 with restarts", "bloom", "131,072 GPUs"],
)
def test_the_effective_share_against_simulated_failures(save_s, mttf, restart_s):
    interval = checkpoints.daly_interval_s(save_s, mttf)
    exact = effective_share(save_s, interval, mttf, restart_s)
    assert simulated(save_s, interval, mttf, restart_s, lives=60_000) == pytest.approx(exact, abs=0.004)


@pytest.mark.parametrize(("save_s", "lost"), [(30, 0.073), (60, 0.104)])
def test_the_exact_share_agrees_with_the_first_order_where_failures_are_rare(save_s, lost):
    """7.3 % and 10.4 % are the first-order figures for Llama 3; the terms left out are of the order of their squares."""
    mttf = 3.09 * HOUR
    exact = 1 - effective_share(save_s, checkpoints.daly_interval_s(save_s, mttf), mttf)
    assert exact == pytest.approx(lost, abs=lost**2)


@given(st.floats(1, 600), st.floats(1800, 10 * DAY), st.floats(0, 3600))
def test_no_interval_is_better_than_daly_s_by_a_hundredth(save_s, mttf, restart_s):
    best = effective_share(save_s, checkpoints.daly_interval_s(save_s, mttf), mttf, restart_s)
    assert all(effective_share(save_s, mttf * 2**-half, mttf, restart_s) <= best * 1.01 for half in range(12))


@pytest.mark.parametrize("restart_s", [0.0, 1e9])
def test_a_job_that_fails_faster_than_it_starts_gets_nowhere(restart_s):
    assert effective_share(60, 600, 1.0, restart_s) == pytest.approx(0, abs=1e-200)


def by_every_state(nodes, spares, down):
    """Chance that enough nodes are up, over all 2^n states of the nodes."""
    states = itertools.product((0, 1), repeat=nodes + spares)
    return sum(down ** sum(state) * (1 - down) ** (nodes + spares - sum(state)) for state in states if sum(state) <= spares)


@pytest.mark.parametrize("down", [Fraction(1, 250), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])
@pytest.mark.parametrize(("nodes", "spares"), [(1, 0), (1, 3), (4, 2), (9, 3), (12, 0)])
def test_the_chance_of_enough_nodes_over_every_state(nodes, spares, down):
    assert chance_of_enough(nodes, spares, float(down)) == pytest.approx(float(by_every_state(nodes, spares, down)), rel=1e-12)


@pytest.mark.parametrize(("nodes", "spares"), [(126, 1), (2048, 12), (16384, 80)])
def test_the_chance_of_enough_nodes_in_exact_fractions(nodes, spares):
    down = Fraction(4, 1004)  # 4 failures in 1,000 node-days, a day of repair
    total = nodes + spares
    exact = sum(comb(total, k) * down**k * (1 - down) ** (total - k) for k in range(spares + 1))
    assert chance_of_enough(nodes, spares, Failures().down_share) == pytest.approx(float(exact), rel=1e-9)


def test_many_nodes_in_repair_are_a_poisson_number():
    """With cold spares the nodes in repair are an M/G/infinity queue: Poisson of nodes x rate x repair time (Palm 1938)."""
    mean = 2048 * 0.004
    for spares in (4, 8, 14):
        poisson = sum(exp(-mean) * mean**k / factorial(k) for k in range(spares + 1))
        assert chance_of_enough(2048, spares, Failures().down_share) == pytest.approx(poisson, abs=0.02)


@pytest.mark.parametrize("repair", ["constant", "exponential"])
def test_the_chance_of_enough_nodes_against_simulated_repairs(repair):
    """40 nodes and 2 spares for 400,000 days: how long there are enough does not depend on how repair times spread."""
    chance, rate, repair_s = random.Random(2), 0.02, 1.0  # a node fails every 50 days, and is a day in repair
    down_for: list[tuple[float, int]] = []
    for _ in range(42):
        now = 0.0
        while now < 400_000:
            now += chance.expovariate(rate)
            back = now + (repair_s if repair == "constant" else chance.expovariate(1 / repair_s))
            down_for += [(now, 1), (min(back, 400_000), -1)] if now < 400_000 else []
            now = back
    enough, down, last = 0.0, 0, 0.0
    for at, change in sorted(down_for):
        enough, down, last = enough + (at - last if down <= 2 else 0), down + change, at
    exact = chance_of_enough(40, 2, rate * repair_s / (1 + rate * repair_s))
    assert (enough + (400_000 - last)) / 400_000 == pytest.approx(exact, abs=0.002)


@given(st.integers(1, 400), st.floats(1e-6, 0.3), st.sampled_from([0.5, 0.9, 0.99, 0.999]))
def test_the_spares_are_the_fewest_that_do(nodes, down, wanted):
    spares = spares_for(nodes, down, wanted)
    if spares is None:
        assert chance_of_enough(nodes, nodes, down) < wanted
        return
    assert chance_of_enough(nodes, spares, down) >= wanted
    assert spares == 0 or chance_of_enough(nodes, spares - 1, down) < wanted


def test_more_spares_than_nodes_are_no_answer():
    assert spares_for(8, 0.9, 0.99) is None


def test_bloom_had_spares_for_a_week_of_repair():
    """48 nodes and 4 spare ones, about a GPU failure a week (bigscience, tr11 chronicles): at a week of repair the fewest for 99 %."""
    rate = 1000 / (7 * 48)
    assert spares_for(48, Failures(rate, repair_s=7 * DAY).down_share, 0.99) == 4
    assert chance_of_enough(48, 3, Failures(rate, repair_s=7 * DAY).down_share) == pytest.approx(exp(-1) * (1 + 1 + 1 / 2 + 1 / 6), abs=0.01)


def test_reading_the_checkpoint_is_part_of_the_restart(pretrain):
    spec = replace(pretrain, store_read_bytes_per_s=200e9, failures=Failures(restart_s=300))
    saves = checkpoints.plan(spec, 405_853_388_800)
    found = failures.reliability(spec, saves, 14 * 405_853_388_800)
    assert found.read_s == pytest.approx(28.41, abs=0.005)  # 5.682 TB at 200 GB/s
    assert found.restart_s == found.read_s + 300
    assert found.effective_share == effective_share(saves.save_s, saves.interval_s, found.mttf_s, found.restart_s)
    assert failures.reliability(spec, None, 0).effective_share is None


def test_the_grades_of_the_published_table():
    """RA-11333-001 V11, table 6, GB/s: 189 GB/s of writes lie between "better" and "best" of four units."""
    assert [offered(grade, "write", 128) / 1e9 for grade in ("good", "better", "best")] == [30, 80, 250]
    assert [offered(grade, "read", 32) / 1e9 for grade in ("good", "better", "best")] == [15, 40, 125]
    assert (grade_needed(189e9, "write", 128), grade_needed(80e9, "write", 128), grade_needed(251e9, "write", 128)) == ("best", "better", None)


@given(st.sampled_from(["read", "write"]), st.sampled_from(["good", "better", "best"]), st.integers(1, 4000))
def test_more_nodes_never_want_a_slower_store(direction, grade, nodes):
    assert offered(grade, direction, nodes + 1) > offered(grade, direction, nodes)
