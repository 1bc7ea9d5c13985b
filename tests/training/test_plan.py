"""The plan of whole jobs: what fits, what is refused, and that the advice holds."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from iacgen import catalog
from iacgen.training import NodeGrid, plan
from iacgen.training.plan import SMALL_HEADROOM

GIB = 2**30


def test_the_superpod_job_fits(pretrain):
    job, findings = plan(pretrain)
    assert findings == []
    assert (job.world, job.data_parallel, job.micro_batches) == (1008, 7, 36)
    assert job.grid == NodeGrid(context=2, data=7, pipeline=9)
    assert job.parameters.total == 405_853_388_800
    assert job.memory.fits
    assert job.memory.worst.stage == 0


def test_the_same_job_without_context_parallelism_breaks_on_activations(pretrain):
    job, (finding,) = plan(replace(pretrain, context=1))
    assert job is None
    assert (finding.id, finding.slug, finding.severity, finding.path) == ("IAC330", "job-does-not-fit", "error", ("training", "pretrain"))
    assert "stored activations" in finding.message
    (marked,) = [line for line in finding.help.splitlines() if "<- breaks" in line]
    assert marked.startswith("stored activations")


def test_every_offered_change_makes_the_job_fit(pretrain):
    _, (finding,) = plan(replace(pretrain, context=1))
    offered = re.findall(r"(?:parallel\.)?(\w+): (\w+) \(", finding.help.splitlines()[-1])
    assert offered == [("recompute", "full"), ("context", "2")]
    for field, value in offered:
        job, _ = plan(replace(pretrain, **{"context": 1, field: int(value) if value.isdigit() else value}))
        assert job is not None


def test_a_job_that_no_single_change_saves_says_so(pretrain):
    _, (finding,) = plan(replace(pretrain, pipeline=1, virtual=1, context=1))
    assert finding.help.splitlines()[-1].startswith("no single change")


@pytest.mark.parametrize(("model", "nodes", "batch", "recompute"), [("llama-3-70b", 32, 256, "full"), ("llama-3-8b", 2, 64, "selective"), ("llama-3-8b", 2, 64, "full")])
def test_zero_3_jobs_of_the_blueprints_fit(finetune, model, nodes, batch, recompute):
    job, findings = plan(replace(finetune, model=catalog.model(model), nodes=nodes, global_batch=batch, recompute=recompute))
    assert findings == []
    assert job.grid == NodeGrid(context=1, data=nodes, pipeline=1)


def test_memory_is_not_judged_while_the_arithmetic_is_wrong(pretrain):
    job, findings = plan(replace(pretrain, context=1, global_batch=250))
    assert job is None
    assert [f.slug for f in findings] == ["batch-not-divisible"]


def test_a_tight_job_is_planned_with_a_warning(pretrain):
    job, _ = plan(pretrain)
    room = job.memory.worst.total / (1 - SMALL_HEADROOM / 2)
    gpu = pretrain.gpu.model_copy(update={"memory_gib": room / GIB + pretrain.gpu.context_gib})
    tight, (warning,) = plan(replace(pretrain, gpu=gpu))
    assert tight is not None
    assert (warning.id, warning.severity) == ("IAC331", "warning")


def test_a_sequence_beyond_the_model_is_planned_with_a_warning(finetune):
    job, (warning,) = plan(replace(finetune, sequence=16384))
    assert job is not None
    assert (warning.slug, warning.severity) == ("sequence-beyond-model", "warning")


def test_a_checkpoint_of_405b_is_5_7_tb_and_60_s_need_95_gb_a_second(pretrain):
    job, _ = plan(pretrain)
    assert round(job.checkpoint_bytes / 1e12, 1) == 5.7
    assert round(job.checkpoint_write_bytes_per_s / 1e9) == 95
    unpromised, _ = plan(replace(pretrain, checkpoint_target_s=None))
    assert (unpromised.checkpoint_write_bytes_per_s, unpromised.checkpoints) == (None, None)
