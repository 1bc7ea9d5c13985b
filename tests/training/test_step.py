"""The time of a step: its parts, what hides what, and how they move with the job."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iacgen import catalog
from iacgen.training import flops
from iacgen.training.assume import MEANING, Assumptions, achievable
from iacgen.training.kernels import matmul_s, rates
from iacgen.training.links import LAUNCH_S, NVLINK_HOP_S, Links
from iacgen.training.step import PARTS, step
from iacgen.training.traffic import node_share, traffic

NDR = 8 * 400e9 / 8


@pytest.fixture(scope="module")
def published(pretrain):
    """The run of Llama 3 on 16,384 H100 (arXiv:2407.21783, table 4), one layer in each model chunk."""
    return replace(
        pretrain, nodes=2048, global_batch=2048, tensor=8, context=1, pipeline=16, virtual=8, recompute="none",
        embedding_as_layer=True, loss_as_layer=True, node_bytes_per_s=NDR,
    )  # fmt: skip


def test_operations_are_those_of_the_papers_formula(pretrain, gpt):
    """72BLsh²(1 + s/6h + V/12hL) (arXiv:2104.04473, section 5.1), biases and norms apart; 96 in the place of 72 when all is repeated."""
    layers, h, vocabulary, s, batch = 96, 12288, 51200, 2048, 64
    spec = replace(pretrain, model=gpt(layers, h, 96, vocabulary), sequence=s, global_batch=batch, recompute="none")
    paper = 72 * batch * layers * s * h * h * (1 + s / (6 * h) + vocabulary / (12 * h * layers))
    assert flops.model_flops(spec) == pytest.approx(paper, rel=2e-4)
    repeated = 96 * batch * layers * s * h * h * (1 + s / (6 * h) + vocabulary / (16 * h * layers))
    assert flops.hardware_flops(replace(spec, recompute="full")) == pytest.approx(repeated, rel=2e-4)


def test_a_mixture_counts_the_experts_that_a_token_meets(pretrain):
    """Mixtral 8x7B by its numbers: 12.88 billion of 46.70 billion parameters work on a token, less the embedding that only looks up."""
    mixtral = catalog.Shape(
        id="mixtral", name="Mixtral", layers=32, hidden=4096, ffn_hidden=14336, heads=32, kv_heads=8, head_dim=128, vocabulary=32000, tied_embeddings=False,
        gated_ffn=True, norm="rmsnorm", norm_epsilon=1e-5, bias="none", positions="rope", rope_base=1e6, max_sequence=32768,
        experts={"count": 8, "active": 2, "hidden": 14336},
    )  # fmt: skip
    assert flops.matrix_parameters(mixtral, 8192) == pytest.approx(12.88e9 - 32000 * 4096, rel=1e-3)
    spec = replace(pretrain, model=mixtral, tensor=1, pipeline=1, virtual=1, context=1, expert=8, sequence_parallel=False, nodes=4, global_batch=256, node_bytes_per_s=NDR)
    whole = step(spec)
    assert whole.parts["expert"] > 0
    assert 0.15 < whole.mfu < 0.6
    far = step(replace(spec, expert=4, gpus_per_node=2, nodes=16))
    assert far.parts["expert"] > whole.parts["expert"], "an exchange over the network takes longer than one over NVLink"


@pytest.mark.parametrize(("expert", "expert_tensor", "recompute"), [(1, 8, "full"), (1, 64, "none"), (2, 4, "none"), (8, 1, "full")])
def test_experts_wait_for_what_their_dispatcher_sends(moe, expert, expert_tensor, recompute):
    """megatron-core, token_dispatcher.py, message by message and rank by rank: each token of a rank once for each of its experts (num_out_tokens),
    by all-to-all over the expert group, then gathered over the tensor group of experts; the way back alike; twice, thrice when repeated."""
    spec = replace(
        moe, nodes=8, tensor=8, pipeline=1, expert=expert, expert_tensor=expert_tensor, recompute=recompute, node_bytes_per_s=NDR, micro_batch=2,
        assume=Assumptions(nvlink=0.5, network=1.0),
    )  # fmt: skip
    over, tokens = 225e9, [list(range(rank * 1024, (rank + 1) * 1024)) for rank in range(8)]  # of 2 x 4096, cut by sequence parallelism
    copies = [[token for token in own for _ in range(spec.model.experts.active)] for own in tokens]
    assert [len(own) for own in copies] == [2048] * 8
    row = 2 * spec.model.hidden
    away = len(copies[0]) * row * (expert - 1) / expert / (over if expert * expert_tensor <= 8 else NDR / 8)
    others = sum(len(copies[rank % 8]) for rank in range(1, expert_tensor)) * row / (over if expert_tensor <= 8 else min(over, NDR))
    ways = 2 * (3 if recompute == "full" else 2)
    messages = ways * spec.model.layers * spec.micro_batches
    most = 2 * 8.4e-6 + expert_tensor * 9.6e-6  # two launches, and a hop to each of a tensor group
    assert 0 < step(spec).parts["expert"] / messages - (away + others) < most


@pytest.mark.parametrize("expert", [1, 2, 8])
@pytest.mark.parametrize("framework", ["megatron", "deepspeed"])
def test_experts_are_exchanged_among_those_that_hold_them(moe, framework, expert):
    """Mixtral 8x7B on eight GPUs of one NVLink, its experts counted one by one: 3 x 4096 x 14336 numbers, each held by the ranks that deal with it.
    fp32 gradients and bf16 weights go round these alone, Adam moves 42 bytes of each rank's part: with as many expert ranks as copies nothing goes round."""
    spec = replace(
        moe, nodes=1, tensor=1, pipeline=1, expert=expert, sequence_parallel=False, framework=framework, zero=1, gradients="fp32", node_bytes_per_s=NDR,
        distributed_optimizer=framework == "megatron", global_batch=8, assume=Assumptions(overlap_data=0.0, nvlink=0.5, hbm=0.5),
    )  # fmt: skip
    one, each = 3 * 4096 * 14336, 8 // expert
    held = [{(rank % expert) * each + n for n in range(each)} for rank in range(8)]  # of each rank, experts of one layer
    dense = 46_702_792_704 - 32 * 8 * one  # all that is no expert
    owners = [sum(n in mine for mine in held) for n in sorted(held[0])]
    sent = dense * 7 / 8 + sum(32 * one * (k - 1) / k for k in owners)
    whole = step(spec)
    buckets = (dense + len(owners) * 32 * one) / 40e6 + 2
    assert 0 <= whole.parts["data"] - (4 + 2) * sent / 225e9 <= 2 * buckets * (8.4e-6 + 7 * 3.4e-6), "a launch and seven hops a bucket, each way"
    assert whole.parts["optimizer"] == pytest.approx(42 * (dense / 8 + sum(32 * one / k for k in owners)) / (3.35e12 * 0.5), rel=1e-3)


def test_the_parts_add_up_and_have_words(published):
    whole = step(published)
    assert tuple(whole.parts) == PARTS
    assert all(seconds >= 0 for seconds in whole.parts.values())
    assert whole.seconds == pytest.approx(sum(whole.parts.values()))
    assert whole.kernels.total == pytest.approx(sum(whole.parts[name] for name in ("forward", "backward", "repeated")))
    assert whole.tokens_per_s_per_gpu * 16384 == pytest.approx(2048 * 8192 / whole.seconds)
    assert whole.hfu == pytest.approx(whole.mfu)


def test_bubble_is_that_of_the_interleaved_schedule(published):
    """(p - 1)/(mv) of the time of a stage (arXiv:2104.04473, section 2.2); stages of this job are alike but for the ends."""
    plain, half = step(replace(published, virtual=4)), step(published)
    assert plain.parts["bubble"] == pytest.approx(2 * half.parts["bubble"])
    busy = sum(half.parts[name] for name in ("forward", "backward", "repeated", "tensor", "context", "expert"))
    assert half.parts["bubble"] == pytest.approx(15 / (16 * 8) * busy, rel=0.03)


def test_recomputation_repeats_the_forward_pass_of_the_layers(published):
    full = step(replace(published, recompute="full"))
    assert full.parts["repeated"] == pytest.approx(full.parts["forward"], rel=0.03)
    assert full.parts["tensor"] == pytest.approx(1.5 * step(published).parts["tensor"])
    assert full.hfu > full.mfu


def test_fp8_halves_the_matrices_of_the_layers_alone(published):
    """Attention and the other kernels stay as they are, and so do the output layer's products."""
    bf16, fp8 = step(published), step(replace(published, fp8=True))
    assert fp8.kernels.attention == bf16.kernels.attention
    assert fp8.kernels.memory == bf16.kernels.memory
    assert 0.5 < fp8.kernels.matmul / bf16.kernels.matmul < 0.62
    assert fp8.model_flops == bf16.model_flops


def test_a_larger_matrix_reaches_more_of_the_peak(pretrain):
    """Waves and operands cost less the larger all sides are; never more than the share of the catalog."""
    speed = rates(pretrain)
    shares = [2 * n**3 / matmul_s(n, n, n, 1, speed) / (pretrain.gpu.bf16_tflops * 1e12) for n in (512, 1024, 2048, 4096, 8192, 16384)]
    assert shares == sorted(shares)
    assert shares[-1] <= achievable(pretrain.gpu)["matmul"]
    assert matmul_s(4096, 4096, 4095, 1, speed) > matmul_s(4096, 4096, 4096, 1, speed), "a side that is not aligned takes longer"


def test_a_ring_moves_its_buffer_and_waits_for_each_hop():
    over = Links(nvlink=300e9, network=400e9, domain=8, node=8)
    assert over.ring_s(8e9, 8, 1) == pytest.approx(7e9 / 300e9 + LAUNCH_S + 7 * NVLINK_HOP_S)
    assert over.rate(64, 1) == 300e9, "eight members of a node share its adapters in one ring"
    assert over.rate(64, 8) == 400e9 / 8, "eight rings of a node share its adapters"
    assert over.ring_s(8e9, 1, 1) == 0


def test_slow_adapters_show_in_the_data_parallel_part_alone(published):
    fast, slow = step(published), step(replace(published, node_bytes_per_s=NDR / 8))
    changed = {name for name in PARTS if slow.parts[name] != pytest.approx(fast.parts[name])}
    assert changed == {"data", "pipeline"}
    assert slow.seconds > fast.seconds


def test_shards_that_come_slower_than_the_computation_cannot_hide(finetune):
    near = step(replace(finetune, node_bytes_per_s=NDR))
    far = step(replace(finetune, node_bytes_per_s=NDR / 64))
    assert near.parts["data"] < 0.1 * near.seconds
    assert far.parts["data"] > 0.5 * far.seconds


def test_an_optimizer_in_host_memory_takes_longer(finetune):
    here = replace(finetune, node_bytes_per_s=NDR)
    gpu, cpu, nvme = (step(replace(here, offload_optimizer=place)).parts["optimizer"] for place in ("none", "cpu", "nvme"))
    assert gpu < cpu < nvme


@pytest.mark.parametrize(("place", "off_node", "written"), [("cpu", 25e9 * 8, 0), ("nvme", 10e9, 2)])
def test_weights_kept_on_the_host_are_read_for_each_pass(finetune, place, off_node, written):
    """Llama 3 70B over four nodes: 70.55 x 10^9 parameters of 2 bytes / 4 are 35.3 GB a node, read twice for each of eight micro batches: 56 s
    off 10 GB/s of NVMe, 2.8 s over eight links of 25 GB/s. Nothing is hidden here (overlap 0)."""
    here = replace(finetune, nodes=4, node_bytes_per_s=NDR, offload_optimizer="cpu", assume=Assumptions(overlap_shards=0.0, network=1.0))
    gpu, host = step(here), step(replace(here, offload_weights=place))
    node = 70_553_706_496 * 2 / 4
    assert here.micro_batches == 8 and round(70_553_706_496 * 2 / 4 / 10e9 * 2 * 8) == 56
    reads = 8 * 2 * node / off_node
    assert host.parts["data"] == pytest.approx(max(reads, gpu.parts["data"]), rel=1e-3)
    back = (2 * 70_553_706_496 / 32) / 25e9  # which now stay where the optimizer is
    assert host.parts["optimizer"] - gpu.parts["optimizer"] == pytest.approx(written * 70_553_706_496 / 4 / 10e9 - back, rel=1e-3)


def test_a_node_reads_its_weights_under_the_computation(finetune):
    """At most the stated 0.7 of it, and of the second copy that ZeRO++ keeps on the GPUs nothing: half of the reads."""
    here = replace(finetune, nodes=4, node_bytes_per_s=NDR, offload_optimizer="cpu", offload_weights="nvme")
    assert step(here).parts["data"] == pytest.approx(0.3 * 56.44, rel=0.01)
    assert step(replace(here, secondary_group=8)).parts["data"] == pytest.approx(0.15 * 56.44, rel=0.01)
    torch = replace(here, framework="fsdp", offload_weights="cpu", assume=Assumptions(overlap_shards=0.0, network=1.0, nvlink=1.0))
    assert step(torch).parts["data"] == pytest.approx(max(8 * 2 * 70_553_706_496 * 4 / 32 / 25e9, step(replace(torch, offload_weights="none")).parts["data"]), rel=1e-3)


def test_each_assumption_is_explained_and_can_be_stated():
    assert set(MEANING) == set(Assumptions.__dataclass_fields__)
    assert Assumptions(hbm=0.7).stated == {"hbm"}
    h100 = catalog.gpu("h100-sxm")
    assert Assumptions(matmul=0.5).of(h100).matmul == 0.5
    assert Assumptions().of(h100).matmul == h100.efficiency.matmul


def test_types_without_runs_get_a_share_of_their_measured_products():
    for gpu in ("h200", "b200", "h100-pcie"):
        entry = catalog.gpu(gpu)
        assert entry.efficiency is None
        assert 0.5 < achievable(entry)["matmul"] < 0.8


@pytest.mark.parametrize(("recompute", "forward"), [("full", 2), ("none", 1)])
def test_fsdp_gathers_keys_and_values(finetune, recompute, forward):
    """PyTorch's rotaters, message by message (_context_parallel/_attention.py): _AllGatherRotater brings the bf16 keys and values of the seven
    others once a pass, _AllToAllRotater sends their fp32 gradients to the next rank in each of the eight turns of the backward pass."""
    spec = replace(
        finetune, model=catalog.model("llama-3-8b"), framework="fsdp", context=8, sequence=131072, recompute=recompute, node_bytes_per_s=NDR,
        assume=Assumptions(overlap_context=0.0, nvlink=0.5),
    )  # fmt: skip
    keys = values = [0] * (131072 // 8 * 8 * 128)  # tokens of a rank, key-value heads, their size
    bf16, fp32 = 2 * len(keys) + 2 * len(values), 4 * len(keys) + 4 * len(values)
    sent = sum(bf16 for _ in range(forward + 1) for other in range(8) if other != 0) + sum(fp32 for turn in range(8))
    messages = spec.model.layers * spec.micro_batches
    assert 0 < step(spec).parts["context"] / messages - sent / 225e9 < (forward + 9) * 8.4e-6 + 40 * 3.4e-6
    share = node_share(far := replace(spec, context=64, global_batch=4))
    assert share and traffic(far, share).context == (forward + 1) * 63 * bf16 / 8 * 32 + 64 * fp32 / 8 * 32  # eight times fewer tokens, 32 layers


def test_fsdp_over_a_pipeline_waits_for_one_reduction(finetune):
    """Twice the micro batches: at stage 2 the exchange is that of one step, at stage 3 only its gathers double."""
    spec = replace(finetune, framework="fsdp", pipeline=4, zero=2, global_batch=256, node_bytes_per_s=NDR)
    one, two = (step(replace(spec, global_batch=n)).parts["data"] for n in (256, 512))
    assert two == pytest.approx(one) and one > 0
    one, two = (step(replace(spec, zero=3, global_batch=n)).parts["data"] for n in (256, 512))
    assert one < two < 2 * one


def test_shards_of_a_node_are_gathered_over_nvlink(finetune):
    """Hybrid shards of 8 GPUs, and ZeRO++'s second copy of the weights within a node: on slow adapters both wait for less."""
    slow = replace(finetune, framework="fsdp", node_bytes_per_s=NDR / 64)
    whole, hybrid = step(slow), step(replace(slow, shard_group=8))
    assert hybrid.parts["data"] < whole.parts["data"]
    second = replace(finetune, node_bytes_per_s=NDR / 64, secondary_group=8)
    assert step(second).parts["data"] < step(replace(second, secondary_group=None)).parts["data"]


def test_a_placement_stretches_what_crosses_the_network(published):
    whole, stretched = step(published), step(published, network={"data": 3.0, "pipeline": 3.0})
    assert stretched.parts["pipeline"] == pytest.approx(3 * whole.parts["pipeline"])
    assert stretched.parts["data"] > whole.parts["data"]
    assert stretched.parts["forward"] == whole.parts["forward"]


def test_what_nothing_joins_takes_for_ever(published):
    assert step(replace(published, node_bytes_per_s=None)).parts["data"] == float("inf")
