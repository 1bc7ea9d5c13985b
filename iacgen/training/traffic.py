"""The job seen from the fabric: its shape in nodes, and the bytes that its nodes send each other in one step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from iacgen.training.activations import input_bytes
from iacgen.training.groups import expert_stride
from iacgen.training.parameters import shard, stage_kinds, stage_layers
from iacgen.training.states import sums_over_pipeline

if TYPE_CHECKING:
    from iacgen.training.spec import JobSpec


@dataclass(frozen=True)
class NodeGrid:
    """Shape of the job in nodes. Virtual node v = t + tensor * (c + context * (d + data * p)): tensor fastest, then context, data, pipeline.

    Virtual node v holds ranks v * gpus_per_node up to (v + 1) * gpus_per_node - 1. ``tensor`` is above 1 where a tensor group is several
    nodes of one NVLink domain. A row is the ``row`` nodes of one pipeline position, a column the ``pipeline`` nodes of one row
    position. ``expert`` counts consecutive nodes of a row that form one expert group; 1 when there is none that leaves the node.
    ``shard`` counts, in a row and for each of its ``tensor`` nodes, the consecutive positions that share one copy of the states (FSDP's
    hybrid sharding); 1 where such a group lies in a node or is the whole row.
    """

    context: int
    data: int
    pipeline: int
    expert: int = 1
    tensor: int = 1
    shard: int = 1

    @property
    def row(self) -> int:
        return self.tensor * self.context * self.data

    @property
    def apart(self) -> int:
        """Nodes from one member of a data ring to the next."""
        return self.tensor * self.shard

    @property
    def copies(self) -> int:
        """Nodes of a data ring: one in each shard group."""
        return self.row // self.apart

    @property
    def nodes(self) -> int:
        return self.row * self.pipeline


@dataclass(frozen=True)
class Traffic:
    """Bytes in one step, of all GPUs of a node together; 0 where a family does not leave the node.

    ``data``: over each edge of the ring through a row, one direction; of the rings between copies of the states where there are several
    in a row. ``shard``: over each edge of the ring inside a shard group of several nodes. ``context``: over each edge of the ring through the
    nodes that share a sequence. ``pipeline``: over each edge of a column, each way; the column closes to a ring when
    ``pipeline_ring`` is true (interleaved schedule). ``expert``: what one node sends to the others of its expert group
    together.
    """

    data: float
    context: float
    pipeline: float
    expert: float
    pipeline_ring: bool
    shard: float = 0.0


@dataclass(frozen=True)
class NodeShare:
    """How many positions of each family share one node."""

    context: int
    data: int
    pipeline: int


def node_share(spec: JobSpec) -> NodeShare | None:
    """How the GPUs of a node divide over the families behind tensor parallelism, in rank order.

    None when some group would begin in the middle of a node, so that the job has no shape in whole nodes.
    """
    rest = max(1, spec.gpus_per_node // spec.tensor)
    shares = []
    for size in (spec.context, spec.data_parallel, spec.pipeline):
        if size % rest == 0:
            shares.append(rest)
            rest = 1
        elif rest % size == 0:
            shares.append(size)
            rest //= size
        else:
            return None
    return NodeShare(*shares)


def node_grid(spec: JobSpec, share: NodeShare) -> NodeGrid:
    """The job's shape in nodes. Members of an expert group are as many ranks apart as a tensor group has, so a group is a run of ranks."""
    expert = spec.expert * expert_stride(spec) // spec.gpus_per_node if spec.expert > 1 else 1
    tensor = max(1, spec.tensor // spec.gpus_per_node)
    shards = (shard_group(spec, share) or 1) // (share.context * share.data)
    return NodeGrid(spec.context // share.context, spec.data_parallel // share.data, spec.pipeline // share.pipeline, max(expert, 1), tensor, max(shards, 1))


def shard_group(spec: JobSpec, share: NodeShare) -> int | None:
    """Ranks that share one copy of the states, where there are several copies, and each fills nodes or a part of one. None where one ring
    through all ranks stands for the traffic of the states: there is one copy, or groups begin in the middle of a node."""
    near, group = share.context * share.data, spec.shard_group if spec.framework == "fsdp" else None
    if not group or group >= spec.data_parallel * spec.context or (group % near and near % group):
        return None
    return group


def experts_keep_to_nodes(spec: JobSpec) -> bool:
    """Whether expert groups divide a node or fill whole ones."""
    run = spec.expert * expert_stride(spec)
    return run % spec.gpus_per_node == 0 or spec.gpus_per_node % run == 0


def traffic(spec: JobSpec, share: NodeShare) -> Traffic:
    """Bytes between nodes in one step, family by family."""
    nodes, group = node_grid(spec, share), shard_group(spec, share)
    ring = _copies_bytes(spec, share, group) if group else _states_bytes(spec, share, spec.data_parallel * spec.context)
    return Traffic(
        data=ring if nodes.copies > 1 else 0.0,
        context=_context_bytes(spec, share) if nodes.context > 1 else 0.0,
        pipeline=_pipeline_bytes(spec, share) if nodes.pipeline > 1 else 0.0,
        expert=_expert_bytes(spec) if nodes.expert > 1 else 0.0,
        pipeline_ring=spec.virtual > 1,
        shard=_states_bytes(spec, share, group) if group and nodes.shard > 1 else 0.0,
    )


def sent_to_experts(spec: JobSpec) -> int:
    """Bytes that one GPU sends to all experts of its group, its own among them, in one layer and micro batch: each of its tokens once to
    each expert that it goes to, in bf16 (megatron-core, MoEAlltoAllTokenDispatcher: copies for experts of one GPU are not joined).
    Tokens spread evenly; a capacity below 1 drops the rest."""
    experts = spec.model.experts
    assert experts
    own = max(spec.local_sequence * spec.micro_batch // spec.tensor, 1)  # tensor-parallel ranks divide the tokens between them
    return round(2 * own * experts.active * spec.model.hidden * min(1.0, spec.expert_capacity or 1.0))


def exchanges(spec: JobSpec) -> int:
    """All-to-alls of one layer with experts and one micro batch: to the experts and back, in the forward pass and again with gradients in
    the backward pass; the forward pass once more where all of it is repeated."""
    return 6 if spec.recompute == "full" else 4


def _expert_bytes(spec: JobSpec) -> float:
    """What one node sends to the others of its expert group, on the stage that has the most layers with experts."""
    near = max(1, spec.gpus_per_node // expert_stride(spec))
    far = sent_to_experts(spec) * (spec.expert - near) / spec.expert
    layers = max(stage_kinds(spec, stage)[1] for stage in range(spec.pipeline))
    return spec.gpus_per_node * far * exchanges(spec) * layers * spec.micro_batches


def _states_bytes(spec: JobSpec, share: NodeShare, ranks: int) -> float:
    """Gradients and weights over one edge of the ring of the ``ranks`` that share one copy of the states, for all model shards of the node.

    A ring over k ranks moves (k - 1)/k of the buffer over each edge for a reduce-scatter or an all-gather, twice that for an
    all-reduce. GPUs of one node that hold the same shard are neighbours in the ring, so the edge between nodes carries the
    buffer once. Without shard groups the ring has data * context ranks, since every one of them has gradients of the same weights.
    Experts go round rings of their own, one for each GPU of a run that holds all experts once; between longer runs than a node they
    count as if neighbours.

    Without sharding, one all-reduce of the gradients a step. Megatron's distributed optimizer and ZeRO 1: reduce-scatter of
    gradients, all-gather of bf16 weights. ZeRO 2 reduces after every micro batch; ZeRO 3 also gathers the weights twice for each,
    for the forward and the backward pass (arXiv:1910.02054, section 7). FSDP's stages of a pipeline reduce once a step, and gather once a
    micro batch at stage 3. ZeRO++ gathers for the backward pass among those that keep a second copy of the weights (hpZ, arXiv:2306.10209,
    section 3.2): where these are GPUs of one node, that leaves no node.
    """
    gradient = 4 if spec.gradients == "fp32" else 2
    if spec.framework == "megatron":
        per_parameter = gradient + 2 if spec.distributed_optimizer else 2 * gradient
    else:
        steps, once = spec.micro_batches, sums_over_pipeline(spec)
        gathers = 1 if spec.secondary_group and spec.gpus_per_node % spec.secondary_group == 0 else 2
        by_stage = {0: 2 * gradient, 1: gradient + 2, 2: gradient * steps + 2, 3: (gradient + 2 * gathers) * steps}
        per_parameter = gradient + 2 * (steps if spec.zero == 3 else 1) if once else by_stage[spec.zero]
    held = [shard(spec, stage) for stage in range(share.pipeline)]
    run = spec.expert * expert_stride(spec)
    copies = ranks * spec.tensor // run  # of an expert
    dense = min(spec.tensor, spec.gpus_per_node) * sum(part.dense for part in held) * (ranks - 1) / ranks
    experts = min(run, spec.gpus_per_node) * sum(part.experts for part in held) * (copies - 1) / copies if copies else 0.0
    return per_parameter * (dense + experts)


def _copies_bytes(spec: JobSpec, share: NodeShare, group: int) -> float:
    """Gradients over one edge of the rings between copies of the states, of all GPUs of the node together.

    Behind each reduce-scatter inside a shard group, an all-reduce of each rank's shard with those of the same place in the other groups
    (FSDP, arXiv:2304.11277, section 3.2.2). Groups of one node are neighbours in these rings. Experts are cut into fewer shards, and into
    one where a shard group is no larger than the run that holds all of them.
    """
    near, width, run = share.context * share.data, min(spec.tensor, spec.gpus_per_node), spec.expert * expert_stride(spec)
    copies, rings = spec.data_parallel * spec.context // group, min(near, group) * width
    held = [shard(spec, stage) for stage in range(share.pipeline)]
    parts = max(1, group * spec.tensor // run)  # shards of an expert
    alike = max(1, spec.data_parallel * spec.context * spec.tensor // (run * parts))
    dense = rings / group * sum(part.dense for part in held) * (copies - 1) / copies
    experts = max(rings, min(run, spec.gpus_per_node)) / parts * sum(part.experts for part in held) * (alike - 1) / alike
    return 2 * (4 if spec.gradients == "fp32" else 2) * (1 if sums_over_pipeline(spec) else spec.micro_batches) * (dense + experts)


def _context_bytes(spec: JobSpec, share: NodeShare) -> float:
    """Keys and values over one edge of the ring of context parallelism, for all such rings that cross between two nodes.

    Ring attention (arXiv:2310.01889) passes keys and values on c - 1 times in the forward pass, and again with their gradients
    in the backward pass: three tensor pairs a step, four when the forward pass is repeated. PyTorch gathers them for each pass, and passes
    their gradients on in fp32, c times.
    """
    model, tokens = spec.model, spec.local_sequence * spec.micro_batch
    pair = 2 * 2 * tokens * max(model.kv_heads // spec.tensor, 1) * model.head_dim
    passes = 4 if spec.recompute == "full" else 3
    pairs = (passes - 1) * (spec.context - 1) + 2 * spec.context if spec.framework == "fsdp" else passes * (spec.context - 1)
    layers = max(stage_layers(spec))
    rings = spec.gpus_per_node // share.context
    return float(rings * pair * pairs * layers * spec.micro_batches)


def _pipeline_bytes(spec: JobSpec, share: NodeShare) -> float:
    """Activations over one edge of a column, forward, and their gradients back: the same bytes each way.

    One tensor for each micro batch and model chunk from each GPU of the stage; sequence parallelism sends each its own part, otherwise every
    tensor-parallel rank sends the whole.
    """
    senders = spec.gpus_per_node // share.pipeline
    return float(senders * input_bytes(spec) * spec.micro_batches * spec.virtual)
