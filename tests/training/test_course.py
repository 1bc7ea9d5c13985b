"""A whole run: days, energy and cost out of the time of a step."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iacgen.training.course import SHOWN_TOKENS, Wanted, course
from iacgen.training.plan import plan, stepped


@pytest.fixture(scope="module")
def job(pretrain):
    planned, _ = plan(replace(pretrain, gradients="bf16", node_bytes_per_s=400e9, checkpoint_target_s=None))
    return stepped(planned)


def said(job, **wanted):
    return replace(job, spec=replace(job.spec, wanted=Wanted(**wanted)))


def test_days_are_whole_steps(job):
    one = job.step.tokens
    run = course(said(job, tokens=10 * one + 1), None, None)
    assert run.steps == 11
    assert run.days == pytest.approx(11 * job.step.seconds / 86400)
    assert course(job, None, None).tokens == SHOWN_TOKENS


def test_what_failures_take_is_added(job, pretrain):
    """A job that saves loses some of its time; without a share of steps that count nothing is known of it."""
    saving, _ = plan(replace(pretrain, gradients="bf16", node_bytes_per_s=400e9))
    run = course(stepped(saving), None, None)
    assert run.elapsed_s == pytest.approx(run.busy_s / stepped(saving).reliability.effective_share)
    assert run.elapsed_s > run.busy_s


def test_a_job_that_never_saves_never_ends(job):
    lost = replace(job, reliability=replace(job.reliability, effective_share=0.0))
    assert course(lost, None, None).days == float("inf")


def test_energy_is_power_by_time_and_the_hall_by_its_pue(job):
    run = course(job, 10_200, 1.3)
    assert run.nodes_wh == pytest.approx(126 * 10_200 * run.elapsed_s / 3600)
    assert run.hall_wh == pytest.approx(1.3 * run.nodes_wh)
    stated = course(said(job, node_watts=8000, pue=1.1), 10_200, 1.3)
    assert (stated.nodes_wh / run.nodes_wh, stated.hall_wh / stated.nodes_wh) == pytest.approx((8000 / 10_200, 1.1))


def test_what_nobody_knows_is_not_made_up(job):
    run = course(job, None, 1.3)
    assert run.nodes_wh is None and run.hall_wh is None and run.cost is None
    assert course(job, 10_200, None).hall_wh is None


def test_cost_needs_a_price(job):
    run = course(said(job, gpu_hour=2.0), None, None)
    assert run.cost == pytest.approx(2.0 * run.gpu_hours)
    assert run.gpu_hours == pytest.approx(1008 * run.elapsed_s / 3600)


def test_nodes_that_nothing_joins_have_no_step(pretrain):
    planned, _ = plan(replace(pretrain, gradients="bf16"))
    assert stepped(planned).step is None
    assert course(stepped(planned), 10_200, 1.3) is None
