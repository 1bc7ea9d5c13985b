"""States, the whole table and its verdict."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacgen import catalog
from iacgen.training import memory, table_text
from iacgen.training.parameters import count, shard, stage_layers
from iacgen.training.states import state_bytes
from iacgen.training.zero import bucket_bytes
from iacgen.verify import programs
from iacgen.verify.process import run

GIB = 2**30


@pytest.mark.parametrize(
    ("numbers", "per_parameter"),
    [
        ({"gradients": "fp32", "distributed_optimizer": False}, (2, 4, 12, 0)),  # 18: arXiv:2205.05198
        ({"gradients": "bf16", "distributed_optimizer": False}, (2, 2, 12, 4)),
        ({"gradients": "fp32", "distributed_optimizer": True}, (2, 4, 12 / 14, 0)),  # 7 copies * context 2
        ({"gradients": "bf16", "distributed_optimizer": True}, (2, 2, 12 / 14, 4 / 14)),
        ({"gradients": "bf16", "distributed_optimizer": True, "offload_optimizer": "cpu"}, (2, 2, 0, 0)),
    ],
)
def test_megatron_states(pretrain, numbers, per_parameter):
    assert state_bytes(replace(pretrain, **numbers), 14_000_000) == tuple(n * 14_000_000 for n in per_parameter)


DEEPSPEED = [
    ({"zero": 0}, (2, 2, 12, 8)),  # fp32 gradients one by one, then flat
    ({"zero": 0, "pipeline": 4}, (2, 4, 12 / 64, 4 / 64)),  # BF16_Optimizer shards over the 64 copies
    ({"zero": 0, "pipeline": 4, "framework_version": (0, 6, 1)}, (2, 2, 12, 8)),
    ({"zero": 1}, (2, 2, 12 / 256, 6 / 256)),
    ({"zero": 1, "gradients": "fp32"}, (2, 6, 12 / 256, 0)),
    ({"zero": 2}, (2, 2 / 256, 12 / 256, 6 / 256)),
    ({"zero": 2, "gradients": "fp32"}, (2, 4 / 256, 12 / 256, 4 / 256)),
    ({"zero": 3}, (2 / 256, 2 / 256, 12 / 256, 4 / 256)),
    ({"zero": 1, "offload_optimizer": "cpu"}, (2, 2, 0, 0)),
    ({"zero": 2, "offload_optimizer": "cpu"}, (2, 0, 0, 0)),
    ({"zero": 3, "offload_optimizer": "cpu"}, (2 / 256, 0, 0, 0)),
    ({"zero": 3, "offload_optimizer": "cpu", "offload_weights": "cpu"}, (0, 0, 0, 0)),
    ({"zero": 3, "secondary_group": 8}, (2 / 256 + 2 / 8, 2 / 256, 12 / 256, 4 / 256)),
]


@pytest.mark.parametrize(("numbers", "per_parameter"), DEEPSPEED, ids=lambda value: str(value))
def test_deepspeed_states(finetune, numbers, per_parameter):
    assert state_bytes(replace(finetune, **numbers), 256_000) == tuple(n * 256_000 for n in per_parameter)


@pytest.mark.parametrize(
    ("numbers", "per_parameter"),
    [
        ({"zero": 3}, (4 / 256, 4 / 256, 8 / 256, 0)),
        ({"zero": 2}, (2 + 4 / 256, 4 / 256, 8 / 256, 0)),
        ({"zero": 3, "shard_group": 8}, (4 / 8, 4 / 8, 8 / 8, 0)),
        ({"zero": 3, "offload_optimizer": "cpu", "offload_weights": "cpu"}, (0, 0, 0, 0)),
    ],
    ids=lambda value: str(value),
)
def test_fsdp_states(finetune, numbers, per_parameter):
    """Shards of fp32 weights, gradients and two moments: 16 bytes over the ranks that share a copy."""
    assert state_bytes(replace(finetune, framework="fsdp", **numbers), 256_000) == tuple(n * 256_000 for n in per_parameter)


@pytest.mark.parametrize("zero", [2, 3])
@pytest.mark.parametrize(("gradients", "summed"), [("bf16", 2), ("fp32", 4)])
def test_fsdp_keeps_whole_weights_and_sums_over_a_pipeline(finetune, zero, gradients, summed):
    """Whole bf16 weights and sums beside the shards of 16 bytes, over the 64 copies of four stages."""
    spec = replace(finetune, framework="fsdp", pipeline=4, zero=zero, gradients=gradients)
    assert state_bytes(spec, 64_000) == (2 * 64_000 + 4_000, summed * 64_000 + 4_000, 8_000, 0)


def test_stage_3_updates_a_sub_group_at_a_time(finetune):
    """sub_group_size 1e9: of 3e9 parameters a rank, fp32 gradients of a third live at once."""
    assert state_bytes(finetune, 3 * 256 * 10**9).step == 4 * 10**9


def test_experts_are_shared_by_the_ranks_that_hold_the_same_ones(pretrain):
    """1,008 GPUs, pipeline 9, 8 experts' ranks each: 14 GPUs hold the same experts, as 7 copies * context 2 hold the same dense part
    of each of 8 tensor ranks."""
    moe = replace(pretrain, expert=8, gradients="fp32")
    assert state_bytes(moe, 0, 14_000_000) == (28_000_000, 56_000_000, 12_000_000, 0)
    assert state_bytes(replace(moe, expert=4), 0, 28_000_000).optimizer == 12_000_000


def test_published_states_of_arxiv_2205_05198(pretrain, gpt):
    """18 bytes for 12Lh² / (t p) parameters; our layers also hold the 13Lh of norms and biases."""
    for layers, hidden, heads, pipeline, gib in ((48, 6144, 64, 1, 45.5625), (105, 20480, 128, 35, 31.640625)):
        spec = replace(pretrain, model=gpt(layers, hidden, heads, 51200), pipeline=pipeline, virtual=1, context=1, gradients="fp32", distributed_optimizer=False)
        layers_only = memory.shard(spec, pipeline // 2).layers
        assert sum(state_bytes(spec, layers_only)) / GIB == pytest.approx(gib, rel=0.005)


H, F, V = 8192, 28672, 128256  # Llama 3 70B
LARGEST, BUCKET = V * H, 500_000_000


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        # Beside the sum the gradient of the embedding; then a bucket, sent as it is.
        ({"zero": 0}, 2 * LARGEST + 2 * BUCKET),
        # The norm of the 276 million gradients of a share in double precision is larger than a bucket.
        ({"zero": 1}, 2 * LARGEST + 8 * (70_553_706_496 // 256)),
        # Two buckets fill while they are sent in fp32.
        ({"zero": 2, "gradients": "fp32"}, 2 * LARGEST + 2 * BUCKET + (2 + 4) * BUCKET + 8 * (70_553_706_496 // 256)),
        # Flat fp32 sums: the embedding's gradient in bf16 and fp32, and a bucket to gather weights.
        ({"zero": 1, "gradients": "fp32"}, 6 * LARGEST + 2 * BUCKET),
        # The same sums sent in bf16: a copy of all of them.
        ({"zero": 1, "gradients": "fp32", "gradients_sent": "bf16"}, 6 * LARGEST + 2 * 70_553_706_496),
        # A pipeline without ZeRO sums flat in bf16.
        ({"zero": 0, "pipeline": 4}, 2 * LARGEST + 2 * BUCKET),
    ],
    ids=lambda value: str(value),
)
def test_what_deepspeed_needs_besides_its_states(finetune, numbers, expected):
    assert bucket_bytes(replace(finetune, **numbers)) == expected


@pytest.mark.parametrize(
    ("numbers", "mib"),
    [
        ({"nodes": 2, "tensor": 8}, 688),  # copies are on other nodes
        ({"nodes": 2, "tensor": 2}, 544),
        ({"nodes": 1, "tensor": 4}, 688 + 544),  # two copies on the node
        ({"nodes": 1, "tensor": 1}, 688),
        ({"nodes": 1, "gpus_per_node": 1}, 0),
    ],
)
def test_nccl_takes_memory_for_each_group_inside_a_node(finetune, numbers, mib):
    assert memory.nccl_bytes(replace(finetune, **numbers)) == mib * 2**20


def test_fsdp_gathers_a_block_and_the_next_and_keeps_the_ends(finetune):
    """Embedding and output layer and the last norm stay; two blocks of 856 million parameters come and go; gradients in bf16 and in fp32."""
    spec = replace(finetune, framework="fsdp", gradients="fp32")
    block = (70_553_706_496 - 2 * LARGEST - H) // 80
    expected = 2 * 2 * block + 2 * (2 * LARGEST + H) + (2 + 4) * (2 * LARGEST + H)
    assert memory.buffer_bytes(spec) - memory.nccl_bytes(spec) == expected
    assert memory.buffer_bytes(replace(spec, zero=2)) - memory.nccl_bytes(spec) == (2 + 4) * (2 * LARGEST + H)


def test_the_table_adds_up(pretrain):
    table = memory.table(pretrain)
    rows = dict(table.rows())
    assert len(table.stages) == 9
    assert [sum(rows[line][i] for line in memory.LINES) for i in range(9)] == list(rows["total"])
    assert table.worst.total == max(rows["total"])
    assert table.capacity == round(79.65 * GIB) - 2 * GIB


@pytest.mark.parametrize(("gpu", "copies"), [("h100-sxm", 2), ("b200", 1)])
def test_fp8_keeps_the_layers_weights_again(pretrain, gpu, copies):
    """A GPU that multiplies by rows alone keeps the transposed weights, too; embedding and output layer stay in bf16."""
    plain = replace(pretrain, gpu=catalog.gpu(gpu))
    fp8 = memory.table(replace(plain, fp8=True))
    for stage, (with_fp8, without) in enumerate(zip(fp8.stages, memory.table(plain).stages, strict=True)):
        held = shard(plain, stage)
        assert with_fp8.total - without.total == with_fp8.weights - without.weights == copies * (held.total - held.ends)


def test_only_the_last_stage_has_logits(pretrain):
    logits = dict(memory.table(pretrain).rows())["logits"]
    assert logits[:-1] == (0,) * 8
    # 4096 tokens a rank; 129,024 padded rows over 8 ranks at 6 bytes; two inputs of 16384 over 8 ranks at 2 bytes.
    assert logits[-1] == 4096 * (129024 // 8 * 6 + 2 * 2 * 16384 // 8)


@given(data=st.data())
def test_sharding_and_recomputation_never_need_more(pretrain, data):
    fewer = {"recompute": "full", "distributed_optimizer": True, "flash_attention": True, "dropout": False}
    more = {"recompute": "selective", "distributed_optimizer": False, "flash_attention": False, "dropout": True}
    field = data.draw(st.sampled_from(sorted(fewer)))
    rest = {name: data.draw(st.sampled_from([fewer[name], more[name]]), label=name) for name in fewer if name != field}
    small, large = (memory.table(replace(pretrain, **rest, **{field: way[field]})).worst.total for way in (fewer, more))
    assert small <= large


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"context": 1}, "activations"),
        ({"distributed_optimizer": False}, "optimizer"),
        ({"pipeline": 2, "virtual": 1}, "gradients"),
        ({"pipeline": 1, "virtual": 1}, "weights"),
    ],
)
def test_the_breaking_line_is_where_the_sum_passes_the_room(pretrain, change, line):
    table = memory.table(replace(pretrain, **change))
    assert not table.fits
    assert table.breaking_line == line


def test_a_table_that_fits_has_no_breaking_line(pretrain):
    assert memory.table(pretrain).fits
    assert memory.table(pretrain).breaking_line is None


def test_the_text_shows_the_telling_stages_and_the_verdict(pretrain):
    text = table_text(memory.table(replace(pretrain, context=1))).splitlines()
    assert text[0].split()[4:] == ["stage", "0", "stage", "1", "stage", "8"]
    (marked,) = [line for line in text if "<- breaks" in line]
    assert marked.startswith("stored activations")
    assert text[-1].endswith("(79.7 GiB less 2.0 GiB kept free)")
    assert len({line.find(".") for line in text[1:]}) == 1, "decimal points stand below each other"


def test_a_table_of_few_stages_shows_all_of_them(finetune):
    spec = replace(finetune, pipeline=4, zero=1)
    assert [word for word in table_text(memory.table(spec)).splitlines()[0].split() if word.isdigit()] == list("0123")


@pytest.mark.judge("deepspeed")
def test_deepspeed_estimates_the_same_sharded_states(finetune):
    """DeepSpeed's own estimators: stage 3 needs 4L + 18P/N, stage 2 needs 2P + 18P/N, per GPU, without activations. Of the step they
    count fp32 gradients at stage 2 and 2 bytes at stage 3; we also count the flat copy of stage 2, and 4 bytes of a sub-group."""
    cases = [(id, nodes) for id in ("llama-3-8b", "llama-3-70b", "llama-3.1-405b") for nodes in (1, 8, 64)]
    asked = []
    for id, nodes in cases:
        parameters = count(catalog.model(id), 8192)
        asked.append((parameters.total, parameters.largest_module, 8, nodes))
    python = programs.find("deepspeed").path
    answer = run([python, Path(__file__).with_name("ask_deepspeed.py"), json.dumps(asked)], env={"DS_ACCELERATOR": "cpu"}, timeout=300)
    assert answer.ok, answer.err
    for (id, nodes), (stage_2, stage_3) in zip(cases, json.loads(answer.out.splitlines()[-1]), strict=True):
        for zero, theirs in ((2, stage_2), (3, stage_3)):
            spec = replace(finetune, model=catalog.model(id), nodes=nodes, zero=zero)
            parameters = count(spec.model, 8192).total
            *lasting, _ = state_bytes(spec, parameters)
            counted = {2: 4, 3: 2}[zero] * parameters / spec.world
            assert sum(lasting) + counted == pytest.approx(theirs, rel=1e-6)


@pytest.mark.judge("deepspeed")
def test_layers_lie_on_the_stages_where_deepspeed_deals_them_out(finetune):
    asked = [(layers, stages) for layers in (5, 32, 61, 80) for stages in (1, 2, 3, 5, 7, 16) if stages <= layers]
    python = programs.find("deepspeed").path
    answer = run([python, Path(__file__).with_name("ask_deepspeed.py"), json.dumps(asked), "stages"], env={"DS_ACCELERATOR": "cpu"}, timeout=300)
    assert answer.ok, answer.err
    for (layers, stages), theirs in zip(asked, json.loads(answer.out.splitlines()[-1]), strict=True):
        spec = replace(finetune, model=finetune.model.model_copy(update={"layers": layers}), pipeline=stages, zero=1)
        assert list(stage_layers(spec)) == theirs
