"""Seconds of one step, part by part: what computes, what waits for a stage or for a message, what the optimizer moves.

One-forward-one-backward over p stages and m micro batches takes m times the slowest stage, and the others once each; with v chunks a stage
the others' share is cut by v (arXiv:2104.04473, section 2.2). What of it exceeds m times the mean is bubble and imbalance.
Messages count with the part that nothing hides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from iacgen.training import flops
from iacgen.training.activations import input_bytes
from iacgen.training.groups import expert_stride
from iacgen.training.kernels import Kernels, Passes, embedding, layer, output_layer
from iacgen.training.links import Links, links
from iacgen.training.parameters import shard, stage_kinds, stage_layers
from iacgen.training.states import ranks, sums_over_pipeline
from iacgen.training.traffic import exchanges, sent_to_experts

if TYPE_CHECKING:
    from iacgen.training.spec import JobSpec

PARTS = ("forward", "backward", "repeated", "tensor", "context", "expert", "imbalance", "bubble", "pipeline", "data", "optimizer")
"""In the order in which they are printed. ``repeated`` is recomputation; ``tensor`` to ``expert``, ``pipeline`` and ``data`` are exposed
communication, ``imbalance`` what stages wait for the slowest one."""

WORDS = {
    "forward": "computation forward",
    "backward": "computation backward",
    "repeated": "recomputation",
    "tensor": "exposed tensor-parallel communication",
    "context": "exposed context-parallel communication",
    "expert": "exposed communication of experts",
    "imbalance": "waiting for the slowest stage",
    "bubble": "pipeline bubble",
    "pipeline": "exposed messages between stages",
    "data": "exposed exchange of gradients and weights",
    "optimizer": "optimizer step",
}
"""The parts in words."""

GRADIENT_BUCKET = 40_000_000
"""Parameters in one bucket of gradients: Megatron-core's default, at least."""


@dataclass(frozen=True)
class StepTime:
    """A step under the assumptions of its job. ``kernels`` is the computation of the mean stage by kind of kernel; ``hidden`` the
    communication that computation hides."""

    parts: Mapping[str, float]
    kernels: Kernels
    hidden: float
    tokens: int
    world: int
    peak_flops: float
    model_flops: int
    hardware_flops: int

    @property
    def seconds(self) -> float:
        return sum(self.parts.values())

    @property
    def tokens_per_s(self) -> float:
        return self.tokens / self.seconds

    @property
    def tokens_per_s_per_gpu(self) -> float:
        return self.tokens_per_s / self.world

    @property
    def tflops_per_gpu(self) -> float:
        """Of the model, without recomputation."""
        return self.model_flops / self.seconds / self.world / 1e12

    @property
    def hardware_tflops_per_gpu(self) -> float:
        return self.hardware_flops / self.seconds / self.world / 1e12

    @property
    def mfu(self) -> float:
        """Share of the dense bf16 peak that the model's operations take."""
        return self.tflops_per_gpu * 1e12 / self.peak_flops

    @property
    def hfu(self) -> float:
        """The same with recomputation."""
        return self.hardware_tflops_per_gpu * 1e12 / self.peak_flops

    @property
    def exposed(self) -> float:
        """Communication that a step waits for."""
        return self.parts["tensor"] + self.exposed_between_nodes

    @property
    def exposed_between_nodes(self) -> float:
        """What of it hangs on where ranks sit: all but tensor parallelism, which stays behind NVLink."""
        return sum(self.parts[name] for name in ("context", "expert", "pipeline", "data"))


@dataclass(frozen=True)
class Pieces:
    """What one micro batch takes in each piece of the model, on one GPU: the same for all plans that cut layers alike.

    ``tensor``, ``context``, ``expert`` and ``expert_tensor`` are exposed seconds of one layer, the last two of one with experts; ``hidden``
    those that are not.
    """

    ordinary: Passes
    experts: Passes
    embedding: Passes
    output: Passes
    tensor: float
    context: float
    expert: float
    expert_tensor: float
    hidden: float


def pieces(spec: JobSpec) -> Pieces:
    """Of a job; its pipeline, virtual stages and number of micro batches do not matter."""
    over, model = links(spec), spec.model
    ordinary = layer(spec, False) if not model.experts or model.experts.dense_layers else Passes()
    experts = layer(spec, True) if model.experts else Passes()
    ring = _context_s(spec, over)
    core = (experts if model.experts else ordinary).total
    context = _exposed(ring, spec.assume.overlap_context, core)
    tensor = _tensor_s(spec, over)
    expert, gathered = _expert_s(spec, over), _expert_tensor_s(spec, over)
    assume = spec.assume
    hidden = (tensor + gathered) * assume.overlap_tensor + ring - context + expert * assume.overlap_expert
    return Pieces(
        ordinary, experts, embedding(spec), output_layer(spec), tensor * (1 - assume.overlap_tensor), context,
        expert * (1 - assume.overlap_expert), gathered * (1 - assume.overlap_tensor), hidden,
    )  # fmt: skip


def step(spec: JobSpec, known: Pieces | None = None, network: Mapping[str, float] | None = None) -> StepTime:
    """A step of a job whose batch arithmetic is sound. ``known`` saves computing the pieces again; ``network`` gives, for the families
    ``data``, ``context``, ``pipeline`` and ``expert``, how many times longer a placement makes their messages."""
    of, slower = known or pieces(spec), network or {}
    over, m, v, p = links(spec), spec.micro_batches, spec.virtual, spec.pipeline
    kinds = stage_counts(spec)
    comm = {"tensor": of.tensor, "context": of.context * slower.get("context", 1.0)}
    expert = of.expert * slower.get("expert", 1.0) + of.expert_tensor
    layer_wait = sum(comm.values())
    times = [ordinary * (of.ordinary.total + layer_wait) + experts * (of.experts.total + layer_wait + expert) for ordinary, experts in kinds]
    times[0] += of.embedding.total
    times[-1] += of.output.total
    whole = sum(times)
    slowest, mean = max(times), whole / p
    layers, with_experts = sum(a + b for a, b in kinds), sum(b for _, b in kinds)
    passes = of.ordinary * (layers - with_experts) + of.experts * with_experts + of.embedding + of.output
    share = m / p  # of a sum over all stages: m micro batches of the mean stage
    sent = input_bytes(spec) // (1 if spec.sequence_parallel else spec.tensor)  # each rank sends its part (arXiv:2104.04473, section 4.1)
    hop = over.message_s(sent, spec.tensor * spec.context * spec.data_parallel) if p > 1 else 0.0
    messages = 2 * (m * v + p - 1) * hop * slower.get("pipeline", 1.0)
    compute = Kernels() + passes.forward + passes.backward + passes.repeated
    data, data_hidden = _data_s(spec, over, compute.total / p, passes.forward.total / p, slower.get("data", 1.0))
    parts = {
        "forward": passes.forward.total * share,
        "backward": passes.backward.total * share,
        "repeated": passes.repeated.total * share,
        "tensor": layers * comm["tensor"] * share,
        "context": layers * comm["context"] * share,
        "expert": with_experts * expert * share,
        "imbalance": m * (slowest - mean),
        "bubble": (whole - slowest) / v,
        "pipeline": messages * (1 - spec.assume.overlap_pipeline),
        "data": data,
        "optimizer": _optimizer_s(spec),
    }
    hidden = layers * of.hidden * share + messages * spec.assume.overlap_pipeline + data_hidden
    peak = spec.gpu.bf16_tflops * 1e12
    tokens = spec.global_batch * spec.sequence
    return StepTime(parts, compute * share, hidden, tokens, spec.world, peak, flops.model_flops(spec), flops.hardware_flops(spec))


def stage_counts(spec: JobSpec) -> list[tuple[int, int]]:
    """Layers of each stage with an ordinary feed-forward, and with experts."""
    if spec.model.experts is None:
        return [(n, 0) for n in stage_layers(spec)]
    return [stage_kinds(spec, stage) for stage in range(spec.pipeline)]


def _exposed(seconds: float, overlap: float, room: float) -> float:
    """What cannot be hidden: the part that never overlaps, and what is longer than the computation beside it."""
    return max(seconds * (1 - overlap), seconds - room)


def _tensor_s(spec: JobSpec, over: Links) -> float:
    """Four all-reduces a layer and micro batch, or as many pairs of all-gather and reduce-scatter of the same bytes; two more when the
    forward pass is repeated (arXiv:2205.05198, section 4.2.2)."""
    if spec.tensor == 1:
        return 0.0
    count = 6 if spec.recompute == "full" else 4
    buffer = 2 * spec.local_sequence * spec.micro_batch * spec.model.hidden
    return count * 2 * over.ring_s(buffer, spec.tensor, 1)


def _context_s(spec: JobSpec, over: Links) -> float:
    """Megatron: keys and values go round once forward (and once more when repeated), with their gradients backward. DeepSpeed: eight
    all-to-alls of a tensor of hidden size, four forward (arXiv:2309.14509), as many again when repeated. FSDP (PyTorch,
    _context_parallel/_attention.py, TorchTitan's and Accelerate's default "allgather"): keys and values are gathered forward, again
    backward and when repeated; their fp32 gradients go round the whole ring, one message a member."""
    if spec.context == 1:
        return 0.0
    model, tokens = spec.model, spec.local_sequence * spec.micro_batch
    if spec.framework == "deepspeed":
        return (12 if spec.recompute == "full" else 8) * over.exchange_s(2 * tokens * model.hidden, spec.context, spec.tensor)
    pair = 2 * 2 * tokens * max(model.kv_heads // spec.tensor, 1) * model.head_dim
    if spec.framework == "fsdp":
        gathered = (3 if spec.recompute == "full" else 2) * over.ring_s(pair * spec.context, spec.context, spec.tensor)
        return gathered + spec.context * (2 * pair / over.rate(spec.context, spec.tensor) + over.latency(2, spec.tensor))
    passes = 3 if spec.recompute == "none" else 4
    return passes * over.ring_s(pair * spec.context, spec.context, spec.tensor)


def _expert_s(spec: JobSpec, over: Links) -> float:
    """Tokens to their experts and back, forward and backward, and forward again when repeated."""
    if not spec.model.experts or spec.expert == 1:
        return 0.0
    return exchanges(spec) * over.exchange_s(sent_to_experts(spec), spec.expert, expert_stride(spec))


def _expert_tensor_s(spec: JobSpec, over: Links) -> float:
    """A tensor group of experts works on the tokens of all its ranks: behind each all-to-all to the experts it gathers them, before each
    one back it adds up and scatters its sums (megatron-core, MoEAlltoAllTokenDispatcher; with one expert group alike)."""
    if not spec.model.experts or spec.expert_tensor == 1:
        return 0.0
    return exchanges(spec) * over.ring_s(sent_to_experts(spec) * spec.expert_tensor, spec.expert_tensor, 1)


def _data_s(spec: JobSpec, over: Links, micro: float, forward: float, slower: float) -> tuple[float, float]:
    """Exposed and hidden seconds of gradients and weights among data-parallel and context-parallel ranks.

    Megatron and ZeRO 0 and 1 exchange once a step: gradients under the last backward pass, weights under the next forward pass. With
    v chunks in a stage those of all but one are done before the last p micro batches pass through that one (megatron-core,
    schedules.py): it is their computation that hides the exchange. ZeRO 2 reduces after each micro batch; ZeRO 3 also gathers weights
    twice for each. Weights in host memory or on NVMe are fetched for each gather, beside it: ZeRO-Infinity reads, copies and gathers
    different layers at the same time (arXiv:2104.07857, section 6.2), so that the slower of the two counts. FSDP's stages of a pipeline
    reduce once a step (`states.sums_over_pipeline`).
    """
    m = spec.micro_batches
    stage = (1 if spec.distributed_optimizer else 0) if spec.framework == "megatron" else spec.zero
    gradient = 4 if spec.gradients == "fp32" else 2
    alike = _alike(spec, stage)
    reduce = slower * sum(part.ring_s(over, gradient) + part.copies_s(over, gradient) for part in alike)
    gather = slower * sum(part.ring_s(over, 2) for part in alike)
    backward = micro - forward
    if sums_over_pipeline(spec):  # the reduction stands behind the last backward pass alone; at stage 3 each forward pass ends with shards
        each, times = max(gather, _fetch_s(spec)), m if stage == 3 else 1
        exposed = _exposed(each, spec.assume.overlap_shards, micro)
        return reduce + times * exposed, times * (each - exposed)
    if stage == 3:
        near = slower * sum(replace(part, shards=min(spec.secondary_group or part.shards, part.shards)).ring_s(over, 2) for part in alike)
        each = max(gather + near + reduce, (1 if spec.secondary_group else 2) * _fetch_s(spec))
        exposed = _exposed(each, spec.assume.overlap_shards, micro)
        return m * exposed, m * (each - exposed)
    gather = max(gather, _fetch_s(spec))
    total = m * reduce + gather if stage == 2 else reduce + (gather if stage else reduce)
    last = 1 + (spec.pipeline - 1) * (spec.virtual - 1) / spec.virtual
    room, overlap = (m * backward, spec.assume.overlap_shards) if stage == 2 else (last * micro, spec.assume.overlap_data)
    exposed = _exposed(total, overlap, room)
    return exposed, total - exposed


@dataclass(frozen=True)
class _Alike:
    """Parameters of one GPU that ``size`` ranks have alike, ``apart`` ranks from each other; ``shards`` of them share one copy of the states."""

    parameters: int
    size: int
    apart: int
    shards: int
    buckets: int

    def ring_s(self, over: Links, width: int) -> float:
        """One reduce-scatter or all-gather of so many bytes a parameter."""
        return over.ring_s(width * self.parameters, self.shards, self.apart, self.buckets)

    def copies_s(self, over: Links, width: int) -> float:
        """The all-reduce of shards between copies of the states."""
        if self.shards == self.size:
            return 0.0
        return 2 * over.ring_s(width * self.parameters / self.shards, self.size // self.shards, self.apart * self.shards, self.buckets)


def _alike(spec: JobSpec, stage: int) -> list[_Alike]:
    """What all copies of the model have alike, and the routed experts, which fewer ranks have (`states.ranks`), an expert group apart."""
    own, size = shard(spec, 0), spec.data_parallel * spec.context
    group = min(spec.shard_group or size, size)
    run = spec.expert * expert_stride(spec)
    parts = [(own.dense, size, spec.tensor, group)]
    if own.experts:
        parts.append((own.experts, max(1, size * spec.tensor // run), run, max(1, group * spec.tensor // run)))
    layers = stage_layers(spec)[0]
    return [_Alike(*part, layers if stage == 3 else -(-part[0] // GRADIENT_BUCKET)) for part in parts]


def _fetch_s(spec: JobSpec) -> float:
    """Shards of all weights from where they are kept to the GPU, once: over PCIe, out of the node's memory and off its NVMe, the slowest of them,
    since they work on different layers. DeepSpeed keeps bf16 there, FSDP fp32, which the GPU casts (fully_shard, FSDPParam)."""
    if spec.offload_weights == "none":
        return 0.0
    size = (4 if spec.framework == "fsdp" else 2) * _fullest(spec)
    on_node, assume = size * spec.gpus_per_node, spec.assume
    ways = [size / assume.pcie_gbytes_per_s, on_node / assume.host_gbytes_per_s]
    return max([*ways, on_node / assume.nvme_gbytes_per_s] if spec.offload_weights == "nvme" else ways) / 1e9


def _fullest(spec: JobSpec) -> float:
    """Parameters whose optimizer states are on one GPU of the fullest stage."""
    same, experts = ranks(spec)
    sharded = spec.distributed_optimizer if spec.framework == "megatron" else spec.zero > 0
    held = [shard(spec, stage) for stage in {0, spec.pipeline - 1}]
    return max(part.dense / same + part.experts / experts if sharded else part.total for part in held)


def _optimizer_s(spec: JobSpec) -> float:
    """Adam over the shard of the fullest stage: gradient 4 bytes read thrice (norm, clip, step), fp32 weights and two moments read and
    written, bf16 weights written, gradients set to zero: 42 bytes a parameter.

    On the host: gradients over PCIe and weights back, 4 bytes a parameter and GPU, and 28 bytes of host memory for each
    parameter of the node; on NVMe 24 bytes more, there and back (DeepSpeed, ZeRO-Infinity, arXiv:2104.07857). Weights that are kept
    beside the optimizer do not come back; those on NVMe are written there, 2 bytes.
    """
    own, assume = _fullest(spec), spec.assume
    on_node = own * spec.gpus_per_node
    nvme = 2 * on_node if spec.offload_weights == "nvme" else 0.0
    if spec.offload_optimizer == "none":
        seconds = 42 * own / (spec.gpu.hbm_tbps * 1e12 * assume.hbm)
        pcie = 0 if spec.offload_weights == "none" else 2
    else:
        seconds = 28 * on_node / (assume.host_gbytes_per_s * 1e9)
        pcie = 4 if spec.offload_weights == "none" or spec.framework == "fsdp" else 2  # FSDP's gradients are fp32
        nvme += 24 * on_node if spec.offload_optimizer == "nvme" else 0.0
    return seconds + (pcie * own / assume.pcie_gbytes_per_s + nvme / assume.nvme_gbytes_per_s) / 1e9
