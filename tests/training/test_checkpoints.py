"""Checkpoint sizes and intervals against published runs."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from iacgen import catalog
from iacgen.training import checkpoints, plan
from iacgen.training.failures import Failures

HOUR = 3600


def test_bloom_s_published_size():
    """arXiv:2211.05100: 176,247,271,424 parameters; its chronicles print 2.3 TB, which is 2,298 GiB."""
    assert round(checkpoints.BYTES_PER_PARAMETER["deepspeed"] * 176_247_271_424 / 2**30) == 2298


@pytest.mark.parametrize(("framework", "kept"), [("fsdp", "fff"), ("megatron", "efff"), ("deepspeed", "efff")])
def test_a_checkpoint_holds_each_tensor_in_its_type(finetune, framework, kept):
    """Struct's sizes of the tensors: weights and two moments in fp32 (f), a bf16 copy of the weights (as wide as e) where there is one."""
    spec = replace(finetune, model=catalog.model("llama-3-8b"), framework=framework, zero=0 if framework == "megatron" else 3, distributed_optimizer=framework == "megatron")
    job, _ = plan(spec)
    assert job.checkpoint_bytes == struct.calcsize("=" + kept) * job.parameters.total
    stored = replace(spec, checkpoint_target_s=1, checkpoint_promised=False, store_write_bytes_per_s=1e9)
    assert checkpoints.save_s(stored, job.parameters.total) == pytest.approx(job.checkpoint_bytes / 1e9)


@pytest.mark.parametrize(
    ("save_s", "mttf_s", "minutes", "lost_per_cent"),
    [
        (30, 3.09 * HOUR, 13.3, 7.3),  # Llama 3 405B: 419 unexpected interruptions in 54 days
        (60, 3.09 * HOUR, 18.6, 10.4),
        (40, 7 * 24 * HOUR, 116, 1.2),  # BLOOM: about one GPU failure a week, 40 s a save
    ],
)
def test_intervals_of_published_runs(save_s, mttf_s, minutes, lost_per_cent):
    interval = checkpoints.daly_interval_s(save_s, mttf_s)
    assert interval / 60 == pytest.approx(minutes, rel=0.005)
    assert 100 * checkpoints.lost_share(save_s, interval, mttf_s) == pytest.approx(lost_per_cent, abs=0.06)


def test_no_other_interval_loses_less():
    """First-order loss is flat around Young's interval; Daly's lies within a per cent of the least."""
    best = checkpoints.lost_share(60, checkpoints.daly_interval_s(60, 50_000), 50_000)
    assert best <= 1.01 * min(checkpoints.lost_share(60, interval, 50_000) for interval in range(100, 20_000, 10))


def test_saves_longer_than_the_time_between_failures_still_give_an_interval():
    assert checkpoints.daly_interval_s(100, 40) == 40


def test_the_step_of_the_published_llama_3_run(pretrain):
    """arXiv:2407.21783, table 4: 8,192 GPUs, 16 M tokens a step, 430 TFLOP/s each, 43 % of the peak; ours assumes 40 %."""
    spec = replace(pretrain, nodes=1024, pipeline=16, context=1, global_batch=2048)
    flops = checkpoints.assumed_step_s(spec) * spec.world * 989e12 * checkpoints.ASSUMED_MFU
    assert flops / (2048 * 8192) == pytest.approx(6 * 405_853_388_800, rel=0.1)


def test_the_interval_comes_in_whole_steps(pretrain):
    planned = checkpoints.plan(pretrain, 405_853_388_800)
    assert planned.steps * planned.step_s == pytest.approx(planned.interval_s, abs=planned.step_s / 2)
    slow = replace(pretrain, gpu=catalog.gpu("a100-80"), nodes=126, global_batch=252_000)
    assert checkpoints.plan(slow, 405_853_388_800).steps == 1


def test_the_steps_follow_from_a_known_step(pretrain):
    known = checkpoints.plan(pretrain, 405_853_388_800, step_s=10.0)
    assert (known.step_s, known.step_known, known.steps) == (10.0, True, round(known.interval_s / 10))
    assert not checkpoints.plan(pretrain, 405_853_388_800).step_known


@pytest.mark.parametrize(
    ("target", "promised", "rate", "save_s"),
    [(60, True, None, 60), (60, True, 1e12, 60), (60, True, 56.819e9, 100), (60, False, 568.19e9, 10), (60, False, None, 60)],
    ids=["promise", "fast store", "slow store", "no promise", "nothing known"],
)
def test_a_save_takes_what_is_promised_and_what_the_store_needs(pretrain, target, promised, rate, save_s):
    """405,853,388,800 parameters of 14 bytes are 5,681.9 GB."""
    spec = replace(pretrain, checkpoint_target_s=target, checkpoint_promised=promised, store_write_bytes_per_s=rate)
    assert checkpoints.plan(spec, 405_853_388_800).save_s == pytest.approx(save_s, rel=1e-4)


def test_more_failures_ask_for_more_saves(pretrain):
    """RSC-1 fails 6.50 / 2.34 as often as RSC-2; the interval goes with the root of the time between failures, to first order."""
    often, seldom = (checkpoints.plan(replace(pretrain, failures=Failures(rate)), 405_853_388_800) for rate in (6.50, 2.34))
    assert seldom.mttf_s / often.mttf_s == pytest.approx(6.50 / 2.34)
    assert seldom.interval_s / often.interval_s == pytest.approx((6.50 / 2.34) ** 0.5, rel=0.02)


def test_the_notice_leaves_time_for_a_step_and_a_save(pretrain):
    plan = checkpoints.plan(pretrain, 405_853_388_800, step_s=9.4)
    assert plan.notice_s == 130  # 9.4 s and 60 s, rounded up, and a minute
