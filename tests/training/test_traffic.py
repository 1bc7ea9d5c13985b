"""The job's shape in nodes and its bytes between nodes, against counting edge by edge over the process groups."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from iacgen.training import NodeGrid, batch
from iacgen.training.groups import dense, experts
from iacgen.training.parameters import count, shard
from iacgen.training.traffic import node_grid, node_share, traffic


def small(pretrain, **numbers):
    """A job small enough to count every edge of every ring."""
    model = pretrain.model.model_copy(update={"layers": 12, "hidden": 1024, "ffn_hidden": 4096, "heads": 8, "kv_heads": 8, "vocabulary": 8192})
    return replace(pretrain, model=model, sequence=1536, virtual=1, sequence_parallel=numbers.get("tensor", 8) > 1, **numbers)


def edges_between_nodes(spec, *families):
    """How often each pair of neighbouring nodes, in this direction, is joined by a ring over ``families``."""
    seen = Counter()
    for group in dense(spec).groups(*families).tolist():
        for a, b in zip(group, group[1:] + group[:1], strict=True):
            if a // spec.gpus_per_node != b // spec.gpus_per_node:
                seen[a // spec.gpus_per_node, b // spec.gpus_per_node] += 1
    return seen


def test_the_grid_of_the_superpod_job(pretrain):
    assert node_grid(pretrain, node_share(pretrain)) == NodeGrid(context=2, data=7, pipeline=9)


@pytest.mark.parametrize(
    ("numbers", "grid"),
    [
        ({"tensor": 8, "context": 2, "pipeline": 3, "nodes": 12}, NodeGrid(2, 2, 3)),
        ({"tensor": 4, "context": 2, "pipeline": 3, "nodes": 12}, NodeGrid(1, 4, 3)),
        ({"tensor": 2, "context": 2, "pipeline": 3, "nodes": 12}, NodeGrid(1, 4, 3)),
        ({"tensor": 1, "context": 2, "pipeline": 3, "nodes": 3}, NodeGrid(1, 1, 3)),
        ({"tensor": 2, "context": 1, "pipeline": 4, "nodes": 2}, NodeGrid(1, 1, 2)),
    ],
)
def test_grids_of_jobs_that_share_nodes(pretrain, numbers, grid):
    spec = small(pretrain, **numbers)
    assert node_grid(spec, node_share(spec)) == grid


def test_virtual_nodes_hold_their_ranks_in_the_stated_order(pretrain):
    """v = c + C (d + D p): the node of a rank follows from the digits of the rank."""
    grid = node_grid(pretrain, node_share(pretrain))
    ranks = dense(pretrain)
    for rank in range(0, pretrain.world, 5):
        at = ranks.digits(rank)
        assert rank // 8 == at["cp"] + grid.context * (at["dp"] + grid.data * at["pp"])


@given(data=st.data())
def test_bytes_equal_those_of_every_ring_edge_counted(pretrain, data):
    numbers = {name: data.draw(st.sampled_from(values), label=name) for name, values in {"tensor": [1, 2, 4, 8], "context": [1, 2, 4], "pipeline": [1, 2, 3]}.items()}
    spec = small(pretrain, nodes=data.draw(st.integers(1, 12)), global_batch=1, recompute="none", **numbers)
    spec = replace(spec, global_batch=max(spec.data_parallel, 1) * 2)
    assume(not batch.check(spec))
    ours, ranks = traffic(spec, node_share(spec)), spec.data_parallel * spec.context
    tokens, model = spec.local_sequence, spec.model

    # Data: each crossing ring carries one GPU's shard; the heaviest stage of a node counts with all of its stages.
    for (a, _), crossings in edges_between_nodes(spec, "dp", "cp").items():
        stages = {dense(spec).digits(a * 8 + i)["pp"] for i in range(8)}
        buffers = crossings / len(stages) * sum(shard(spec, stage).total for stage in stages)
        assert ours.data >= buffers * 4 * (ranks - 1) / ranks * 0.999
    if node_grid(spec, node_share(spec)).nodes > node_grid(spec, node_share(spec)).pipeline:
        assert ours.data == pytest.approx(spec.tensor * sum(shard(spec, s).total for s in range(node_share(spec).pipeline)) * 4 * (ranks - 1) / ranks)

    # Context: keys and values of one rank over each crossing, c - 1 times, three pairs, all layers and micro batches.
    pair = 2 * 2 * tokens * (model.kv_heads // spec.tensor) * model.head_dim
    for crossings in edges_between_nodes(spec, "cp").values():
        assert ours.context == crossings * pair * 3 * (spec.context - 1) * model.layers // spec.pipeline * spec.micro_batches

    # Pipeline: one tensor of 2sbh, cut by sequence parallelism, over each crossing and micro batch.
    sent = 2 * tokens * model.hidden // (spec.tensor if spec.sequence_parallel else 1) * spec.micro_batches
    forward = {(a, b): n for (a, b), n in edges_between_nodes(spec, "pp").items() if a < b or spec.pipeline == 2}
    for crossings in forward.values():
        assert ours.pipeline == crossings * sent


def bytes_to_experts(spec):
    """Bytes that each node sends to other nodes in one step, counted token by token and expert by expert over megatron-core's groups."""
    per_expert = 2 * spec.model.hidden * (spec.local_sequence * spec.micro_batch // spec.tensor) * spec.model.experts.active / spec.model.experts.count
    sent = Counter()
    for group in experts(spec).groups("ep").tolist():
        homes = [group[e * len(group) // spec.model.experts.count] for e in range(spec.model.experts.count)]
        for rank in group:
            for home in homes:
                if rank // spec.gpus_per_node != home // spec.gpus_per_node:
                    # There and back; the result's gradient there, the input's back; where all is repeated, there and back once more.
                    for here in (rank, home) * (3 if spec.recompute == "full" else 2):
                        sent[here // spec.gpus_per_node] += per_expert
    return {node: n * (spec.model.layers // spec.pipeline) * spec.micro_batches for node, n in sent.items()}


@given(data=st.data())
def test_bytes_to_experts_equal_those_of_every_pair_of_ranks_counted(moe, data):
    numbers = {name: data.draw(st.sampled_from(values), label=name) for name, values in {"tensor": [1, 2, 4], "context": [1, 2], "pipeline": [1, 2], "expert": [1, 2, 4, 8, 16], "expert_tensor": [1, 2, 4], "recompute": ["none", "full"], "gpus_per_node": [2, 4, 8]}.items()}
    model = moe.model.model_copy(update={"layers": 4, "experts": moe.model.experts.model_copy(update={"count": 16, "active": data.draw(st.sampled_from([1, 2, 6]))})})
    spec = replace(moe, model=model, nodes=data.draw(st.sampled_from([2, 4, 8])), sequence=256, nvlink_gpus=data.draw(st.sampled_from([None, 16])), sequence_parallel=numbers["tensor"] > 1, global_batch=1, **numbers)
    spec = replace(spec, global_batch=max(spec.data_parallel, 1) * 2)
    assume(not batch.check(spec))
    share = node_share(spec)
    ours, nodes, counted = traffic(spec, share), node_grid(spec, share), bytes_to_experts(spec)
    assert (nodes.expert > 1) == bool(counted)
    assert all(sent == pytest.approx(ours.expert) for sent in counted.values())
    assert ours.expert == 0 or len(counted) == spec.nodes
    for group in experts(spec).groups("ep", "tp").tolist() if spec.expert > 1 else ():  # a group's nodes are neighbours in a row
        first, members = group[0] // spec.gpus_per_node, sorted({rank // spec.gpus_per_node for rank in group})
        assert members == list(range(first, first + nodes.expert)) and first % nodes.expert == 0


def test_experts_go_round_rings_of_their_own(moe):
    """All experts of a layer lie once on the eight GPUs of a node, so that what leaves it are the gradients and weights of all of them."""
    spec = replace(moe, tensor=1, pipeline=1, sequence_parallel=False)
    whole, ring = count(spec.model, spec.sequence), 15 / 16
    layer = whole.expert_layer - whole.active_layer
    routed = spec.model.layers * layer // (spec.model.experts.count - spec.model.experts.active) * spec.model.experts.count
    padded = shard(spec, 0).dense
    assert traffic(spec, node_share(spec)).data == pytest.approx(4 * (routed * ring + padded * 127 / 128))


def test_what_stays_in_the_node_is_no_traffic(pretrain):
    one = traffic(small(pretrain, tensor=2, context=2, pipeline=2, nodes=1, global_batch=2), node_share(small(pretrain, tensor=2, context=2, pipeline=2, nodes=1)))
    assert (one.data, one.context, one.pipeline, one.expert) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("zero", "per_parameter"),
    # 4 micro batches: all-reduce of bf16 gradients; reduce-scatter and gather; reduce-scatter each time; two gathers each time too.
    [(0, 2 * 2), (1, 2 + 2), (2, 4 * 2 + 2), (3, 4 * (2 + 2 + 2))],
)
def test_zero_stages_move_what_their_paper_says(finetune, zero, per_parameter):
    spec = replace(finetune, zero=zero, global_batch=1024)
    parameters = count(spec.model, spec.sequence).total
    assert traffic(spec, node_share(spec)).data == pytest.approx(parameters * per_parameter * 255 / 256)


@pytest.mark.parametrize(("zero", "gathers"), [(2, 1), (3, 4)])
def test_fsdp_over_a_pipeline_reduces_once_a_step(finetune, zero, gathers):
    """Four micro batches on one stage of four: bf16 gradients once, bf16 weights for the step or for each forward pass."""
    spec = replace(finetune, framework="fsdp", pipeline=4, zero=zero, global_batch=256)
    assert spec.micro_batches == 4
    held = shard(spec, 0).total
    assert traffic(spec, node_share(spec)).data == pytest.approx(held * (2 + 2 * gathers) * 63 / 64)


def hybrid(finetune, **numbers):
    """Llama 3 70B on 256 GPUs of 32 hosts, one micro batch a step."""
    return replace(finetune, **{"framework": "fsdp", "zero": 3, "global_batch": 256} | numbers)


def test_hybrid_shards_of_a_host_send_what_the_paper_of_fsdp_says(finetune):
    """arXiv:2304.11277, section 3.2.2: W GPUs, G a host, M bytes: each GPU sends 2M(W-1)/(GW) over the borders of hosts when a host holds a
    copy of the states, where one copy on all GPUs sends 3M(W-1)/W. All G of a host send through its adapters, G times the first. The
    paper's W-1 of W stands for W/G - 1 of W/G copies, and a ring's edges carry for the one what its members pass on."""
    spec = hybrid(finetune, shard_group=8)
    sent, everywhere = traffic(spec, node_share(spec)), traffic(hybrid(finetune), node_share(spec))
    size, world, host = 2 * count(spec.model, spec.sequence).total, 256, 8
    assert (node_grid(spec, node_share(spec)), sent.shard) == (NodeGrid(1, 32, 1), 0)
    assert sent.data == pytest.approx(host * 2 * size * (world - 1) / (host * world), rel=0.03)
    assert sent.data == pytest.approx(2 * size * 31 / 32)
    assert everywhere.data == pytest.approx(3 * size * (world - 1) / world)


def ring_edges(members, nodes=8):
    """How often a ring through these ranks leaves each host."""
    out = Counter()
    for a, b in zip(members, [*members[1:], members[0]], strict=True):
        out[a // nodes] += a // nodes != b // nodes
    return out


@pytest.mark.parametrize(
    ("numbers", "hosts"),
    [
        ({"shard_group": 4}, 1),
        ({"shard_group": 8}, 1),
        ({"shard_group": 16}, 2),
        ({"shard_group": 64}, 8),
        ({"shard_group": 128}, 16),
        ({"shard_group": 32, "tensor": 2}, 8),
        ({"shard_group": 32, "context": 16}, 4),
        ({"shard_group": 2, "tensor": 2, "context": 2}, 1),
        ({"shard_group": 16, "pipeline": 2, "gradients": "fp32"}, 2),
        ({"shard_group": 32, "zero": 2, "global_batch": 1024}, 4),
    ],
)
def test_bytes_of_hybrid_shards_equal_those_of_every_ring_edge_counted(finetune, numbers, hosts):
    """Rank by rank over PyTorch's mesh: a shard group is a run of the ranks that hold the same part of the model; the rings between groups
    join those of the same place. A reduce-scatter or gather over k ranks sends (k-1)/k over each edge, an all-reduce twice that."""
    spec = hybrid(finetune, sequence_parallel=numbers.get("tensor", 1) > 1, **numbers)
    grid, sent = node_grid(spec, node_share(spec)), traffic(spec, node_share(spec))
    assert grid == NodeGrid(grid.context, grid.data, spec.pipeline, shard=hosts)
    part, group, steps = shard(spec, 0).dense, spec.shard_group, spec.micro_batches
    width, once = {"bf16": 2, "fp32": 4}[spec.gradients], spec.pipeline > 1
    reduces, gathers = 1 if once else steps, 1 if spec.zero == 2 else steps if once else 2 * steps
    inside, between = Counter(), Counter()
    for same in dense(spec).groups("cp", "dp").tolist():
        groups = [same[i : i + group] for i in range(0, len(same), group)]
        for members in groups:
            for host, edges in ring_edges(members).items():
                inside[host] += edges * part * (reduces * width + gathers * 2) * (group - 1) / group
        for members in zip(*groups, strict=True):
            for host, edges in ring_edges(members).items():
                between[host] += edges * part / group * reduces * width * 2 * (len(groups) - 1) / len(groups)
    assert {round(b) for b in inside.values()} == {round(sent.shard)} and {round(b) for b in between.values()} == {round(sent.data)}


def test_one_copy_of_the_states_or_groups_that_begin_within_a_host_go_round_one_ring(finetune):
    whole = traffic(hybrid(finetune), node_share(hybrid(finetune)))
    for group in (256, 12):
        spec = hybrid(finetune, shard_group=group, nodes=32 if group == 256 else 33, global_batch=264 if group == 12 else 256)
        assert not batch.check(spec) and node_grid(spec, node_share(spec)).shard == 1
        assert traffic(spec, node_share(spec)).shard == 0
        assert traffic(spec, node_share(spec)).data == pytest.approx(whole.data, rel=1e-3)


def test_experts_of_hybrid_shards_are_reduced_between_copies_too(moe):
    """Eight GPUs hold all experts once. In groups of 16 two share each expert, and of 128 copies of an expert's GPU 64 are left to reduce with."""
    spec = replace(moe, framework="fsdp", zero=3, tensor=1, pipeline=1, sequence_parallel=False, distributed_optimizer=False, gradients="fp32", shard_group=16)
    world, run, steps, part = spec.world, spec.expert, spec.micro_batches, shard(spec, 0)
    sent = traffic(spec, node_share(spec))
    assert (run, spec.gpus_per_node) == (8, 8)
    assert sent.shard == pytest.approx(steps * (4 + 4) * (part.dense * 15 / 16 + 8 * part.experts / 2))
    groups = world // 16
    assert sent.data == pytest.approx(steps * 2 * 4 * (groups - 1) / groups * (part.dense / 2 + 8 * part.experts / 2))


@pytest.mark.parametrize(("group", "gathers"), [(8, 1), (4, 1), (16, 2), (6, 2), (None, 2)])
def test_a_second_copy_of_the_weights_in_a_host_spares_a_gather_between_hosts(finetune, group, gathers):
    """ZeRO++ (arXiv:2306.10209, section 3): of the 3M bytes of ZeRO 3, a gather for each pass and a reduce-scatter, hpZ leaves 2M."""
    spec = replace(finetune, framework="deepspeed", zero=3, secondary_group=group, global_batch=1024)
    size = 2 * count(spec.model, spec.sequence).total
    assert spec.micro_batches == 4
    assert traffic(spec, node_share(spec)).data == pytest.approx(4 * (1 + gathers) * size * 255 / 256)


def test_interleaving_closes_the_column_and_multiplies_its_bytes(pretrain):
    plain = traffic(replace(pretrain, virtual=1), node_share(pretrain))
    interleaved = traffic(pretrain, node_share(pretrain))
    assert interleaved.pipeline == 7 * plain.pipeline
    assert (plain.pipeline_ring, interleaved.pipeline_ring) == (False, True)


def test_without_sequence_parallelism_every_tensor_rank_sends_the_whole(pretrain):
    whole = traffic(replace(pretrain, sequence_parallel=False), node_share(pretrain))
    assert whole.pipeline == 8 * traffic(pretrain, node_share(pretrain)).pipeline
