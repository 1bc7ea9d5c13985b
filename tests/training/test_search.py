"""``parallel: auto``: the fastest plan that fits, found again by trying all, and the plan of Llama 3 beside it."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace

import pytest

from iacgen import catalog
from iacgen.diagnostics import errors
from iacgen.training import JobSpec, batch, memory
from iacgen.training.search import HEADROOM, Found, NothingFits, deciding, search, timed
from iacgen.training.step import PARTS, step

OPEN = frozenset({"micro_batch", "recompute", "zero"})


def job(**other):
    given = {"model": catalog.model("llama-3-8b"), "nodes": 2, "sequence": 8192, "global_batch": 64, "distributed_optimizer": True, "gradients": "fp32"}
    return JobSpec(name="open", gpu=catalog.gpu("h100-sxm"), gpus_per_node=8, node_bytes_per_s=400e9, **(given | other))


@pytest.fixture(scope="module")
def llama3() -> Found:
    """405B on 16,384 H100, 2,048 sequences of 8,192 tokens. The paper shards its gradients, which Megatron does not: bf16 sums take as little."""
    found = search(job(model=catalog.model("llama-3.1-405b"), nodes=2048, global_batch=2048, gradients="bf16"), OPEN)
    assert isinstance(found, Found)
    return found


@pytest.fixture(scope="module")
def published(llama3):
    """The cut of arXiv:2407.21783, table 4: tensor 8, context 1, pipeline 16, data 128; without recomputation, a layer in each chunk."""
    return timed(
        replace(
            llama3.best.spec, tensor=8, context=1, pipeline=16, virtual=8, micro_batch=1, recompute="none",
            sequence_parallel=True, embedding_as_layer=True, loss_as_layer=True,
        )
    )  # fmt: skip


def everything(spec):
    """All plans that add up and fit with headroom, one by one, and their seconds."""
    sizes = {"tensor": (1, 2, 4, 8), "context": (1, 2, 4, 8, 16), "pipeline": (1, 2, 4, 8, 16), "virtual": range(1, 33), "micro_batch": (1, 2, 4, 8, 16), "recompute": ("none", "full")}
    for values in itertools.product(*sizes.values()):
        plan = replace(spec, **dict(zip(sizes, values, strict=True)))
        plan = replace(plan, sequence_parallel=plan.tensor > 1)
        if plan.world % plan.model_parallel or not plan.data_parallel or plan.global_batch % (plan.micro_batch * plan.data_parallel) or errors(batch.check(plan)):
            continue
        table = memory.table(plan)
        if table.worst.total <= (1 - HEADROOM) * table.capacity:
            yield plan, step(plan).seconds


def test_nothing_is_faster_than_what_is_found():
    """Against trying all, on a job small enough for it."""
    spec = job()
    found = search(spec, OPEN)
    fastest, seconds = min(everything(spec), key=lambda pair: pair[1])
    assert found.best.seconds == pytest.approx(seconds, abs=1e-6), fastest
    assert [plan.seconds for plan in found.others] == sorted(plan.seconds for plan in found.others)
    assert len({plan.spec for plan in (found.best, *found.others)}) == 4


@pytest.mark.parametrize("framework", ["megatron", "deepspeed", "fsdp"])
def test_what_is_found_is_accepted_and_has_headroom(framework):
    found = search(job(framework=framework, zero=0 if framework == "megatron" else 3, distributed_optimizer=framework == "megatron"), OPEN)
    for plan in (found.best, *found.others):
        assert not errors(batch.check(plan.spec))
        assert plan.memory.worst.total <= (1 - HEADROOM) * plan.memory.capacity
        assert plan.spec.framework == framework


def test_layers_are_cut_with_the_sequence_wherever_the_program_cuts_both():
    """8,190 tokens leave nothing but tensor parallelism on 16 GPUs with 8 sequences, and the language cuts the sequence beside it by default."""
    found = search(job(framework="fsdp", zero=3, distributed_optimizer=False, sequence=8190, global_batch=8))
    assert isinstance(found, Found)
    assert {(plan.spec.tensor, plan.spec.sequence_parallel) for plan in (found.best, *found.others)} == {(2, True)}


@pytest.mark.parametrize("tokens", [8192, 8176])
def test_a_job_of_torchtitan_gets_a_cut_that_torchtitan_takes(tokens):
    """Its sequence parallelism cannot be switched off, and its pieces are tensor * 2 * context (ParallelDims.seq_len_divisor)."""
    found = search(job(framework="fsdp", zero=3, distributed_optimizer=False, sequence=tokens, global_batch=4, entrypoint="/opt/torchtitan/train.py"))
    assert isinstance(found, Found)
    for spec in (plan.spec for plan in (found.best, *found.others)):
        assert spec.sequence_parallel == (spec.tensor > 1)
        assert tokens % (spec.tensor * 2 * spec.context) == 0


def test_the_same_job_gets_the_same_answer():
    assert search(job(), OPEN) == search(job(), OPEN)


def test_what_is_stated_is_kept():
    found = search(job(micro_batch=2, recompute="full"))
    assert {(plan.spec.micro_batch, plan.spec.recompute) for plan in (found.best, *found.others)} == {(2, "full")}


def test_a_job_too_large_for_its_machines_has_no_plan():
    none = search(job(model=catalog.model("llama-3.1-405b"), nodes=1), OPEN)
    assert isinstance(none, NothingFits)
    assert none.ways > 0 and none.least > none.room


def test_a_job_that_nothing_divides_has_no_way():
    none = search(job(nodes=7, global_batch=1), OPEN)
    assert isinstance(none, NothingFits) and none.ways == 0 and none.least is None


def test_what_just_fits_is_taken_where_nothing_has_headroom(monkeypatch):
    """Headroom cut to nothing for the memory table, then to all but a sliver: the same plans, said to lack room."""
    monkeypatch.setattr("iacgen.training.search.HEADROOM", 0.999)
    found = search(job(), OPEN)
    assert found.best.memory.fits
    assert found.too_large > 0


def test_the_published_plan_of_llama_3_is_near_the_best(llama3, published, capsys):
    """Within 10 % of the best, as it is fitting, and those that beat it say in which part of the step."""
    assert published, "the published plan adds up and fits"
    assert published.seconds <= 1.10 * llama3.best.seconds
    beat = [plan for plan in (llama3.best, *llama3.others) if plan.seconds < published.seconds]
    assert len(beat) >= 3
    with capsys.disabled():
        print(f"\nLlama 3 405B on 16,384 H100: {published.seconds:.2f} s as published, {llama3.ways:,} ways divide, {llama3.too_large:,} faster ones lack room")
        for plan in beat[:3]:
            part, seconds = deciding(published, plan)
            print(f"  {plan.seconds:.2f} s with {plan.words}: {seconds:.2f} s less {part}")
    assert all(deciding(published, plan)[0] in PARTS and deciding(published, plan)[1] > 0 for plan in beat)


def test_the_published_plan_with_its_own_sums_lacks_room_in_megatron_alone(published, capsys):
    """arXiv:2407.21783, section 3.3.2: gradients are summed in fp32 and sharded. Megatron keeps the sums whole, so its files cannot carry the
    plan; with the sums cut over its 128 copies the same table has room, and its step stays within 10 % of the best plan with fp32 sums."""
    spec = replace(published.spec, gradients="fp32")
    table = memory.table(spec)
    sharded = max(stage.total - stage.gradients + stage.gradients // spec.data_parallel for stage in table.stages)
    best = search(job(model=spec.model, nodes=2048, global_batch=2048), OPEN).best
    with capsys.disabled():
        gib, room = 2**30, table.capacity
        print(f"\nLlama 3 with fp32 sums: {table.worst.total / gib:.1f} GiB whole, {sharded / gib:.1f} sharded, of {room / gib:.1f}; {step(spec).seconds:.2f} s, best that fits {best.seconds:.2f} s with {best.words}")
    assert not errors(batch.check(spec)) and timed(spec) is None
    assert sharded <= (1 - HEADROOM) * table.capacity < table.worst.total
    assert step(spec).seconds <= 1.10 * best.seconds


def test_experts_need_a_size_that_divides_them():
    """A mixture of 8 experts on 2 nodes."""
    mixture = catalog.Shape(
        id="mixture", name="Mixture", layers=16, hidden=2048, ffn_hidden=7168, heads=16, kv_heads=8, head_dim=128, vocabulary=32000, tied_embeddings=False,
        gated_ffn=True, norm="rmsnorm", norm_epsilon=1e-5, bias="none", positions="rope", rope_base=1e6, max_sequence=32768,
        experts={"count": 8, "active": 2, "hidden": 7168},
    )  # fmt: skip
    found = search(job(model=mixture), OPEN)
    assert all(8 % plan.spec.expert == 0 for plan in (found.best, *found.others))


def test_deepspeed_gets_no_groups_of_experts_at_stage_3():
    """Its engine refuses them (``_validate_zero3_moe_compatibility``), and at stage 3 alone would this model fit so few GPUs."""
    found = search(job(model=catalog.model("mixtral-8x7b"), framework="deepspeed", zero=3, distributed_optimizer=False, nodes=16, gradients="bf16"), OPEN | {"zero"})
    plans = [plan.spec for plan in (found.best, *found.others)]
    assert plans and not [spec for spec in plans if spec.zero == 3 and spec.expert > 1]


def test_the_largest_batch_that_can_be_written_is_searched_at_once():
    """Divisors are looked for as far as they can be used: of large numbers all of them took seconds."""
    began = time.perf_counter()
    search(job(global_batch=16_777_216), OPEN)
    assert time.perf_counter() - began < 5
