"""Which numbers of a job do not go together: world size, batches, layers, heads, sequence. All findings of a job at once.

The rules are those that Megatron-LM enforces when it reads its arguments (``validate_args`` and megatron-core's
``TransformerConfig`` and schedules) and that DeepSpeed enforces in its configuration and engine; each rule names its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from iacgen.diagnostics import Diagnostic
from iacgen.training.groups import expert_stride
from iacgen.training.limits import LIMITS, WORLD
from iacgen.training.releases import RELEASES, groups_repeat
from iacgen.training.said import Rule, error as _error
from iacgen.training.stages import STAGES
from iacgen.training.traffic import experts_keep_to_nodes, node_share

if TYPE_CHECKING:
    from iacgen.training.spec import JobSpec

_WIDTH = ("IAC307", "IAC308", "IAC309", "IAC314")
_COUNTS = {
    "nodes": ("count",),
    "gpus_per_node": ("nodes",),
    "sequence": ("sequence",),
    "global_batch": ("global_batch",),
    "micro_batch": ("micro_batch",),
    **{name: ("parallel", name) for name in ("tensor", "pipeline", "virtual", "context", "expert", "expert_tensor")},
}


def check(spec: JobSpec) -> list[Diagnostic]:
    """Every finding about the arithmetic of ``spec``, in the order of the rules; empty when the job adds up.

    Rules about the data-parallel size wait until there is one: after a number below 1 nothing else is asked, and after a world
    size that does not divide, nothing about batches.
    """
    unusable = list(_counts_are_positive(spec))
    if unusable:
        return unusable
    shape = _told_once(spec, [finding for rule in SHAPE for finding in rule(spec)])
    world = list(_world_divides(spec))
    return shape + (world or [finding for rule in BATCH for finding in rule(spec)])


def _told_once(spec: JobSpec, found: list[Diagnostic]) -> list[Diagnostic]:
    """One finding of a tensor size that divides neither this nor that, with the sizes that divide all."""
    width = [f for f in found if f.id in _WIDTH and f.path == spec.at("parallel", "tensor")]
    if len(width) < 2:
        return found
    rules = (_width_divides, _tensor_stays_in_the_node, *LIMITS)
    sizes = [t for t in range(1, spec.nvlink_domain + 1) if not any(f.id in _WIDTH for rule in rules for f in rule(replace(spec, tensor=t)))]
    told = replace(width[0], help=f"use {', '.join(map(str, sizes))}: these divide heads and feed-forward and keep to NVLink")
    return [told if f is width[0] else f for f in found if f is width[0] or f not in width]


def _counts_are_positive(spec: JobSpec) -> Iterator[Diagnostic]:
    for name, path in _COUNTS.items():
        if getattr(spec, name) < 1:
            yield _error(spec, 301, "number-below-one", f"{'.'.join(path)} is {getattr(spec, name)}", path, "use 1 or more")
    if not 0 <= spec.zero <= 3:
        yield _error(spec, 322, "zero-stage-unknown", f"zero is {spec.zero}", ("zero",), "DeepSpeed has the stages 0, 1, 2 and 3")


def _world_divides(spec: JobSpec) -> Iterator[Diagnostic]:
    """Megatron-LM validate_args: the world size is a multiple of tensor * pipeline * context."""
    if spec.world % spec.model_parallel:
        yield _error(
            spec, 302, "world-not-divisible",
            f"{spec.nodes} nodes of {spec.gpus_per_node} GPUs are {spec.world} GPUs, which {spec.model_parallel} GPUs for one copy of the model do not divide",
            ("count",),
            f"{_nearest(spec)}change parallel so that tensor * pipeline * context divides {spec.world}",
            (("parallel",), f"tensor {spec.tensor} * pipeline {spec.pipeline} * context {spec.context} = {spec.model_parallel}"),
        )  # fmt: skip


def _nearest(spec: JobSpec) -> str:
    """Advice on the next smaller and larger node counts that make the world divide, of those that there are nodes for."""
    most = spec.nodes + spec.model_parallel if spec.usable_nodes is None else spec.usable_nodes
    good = [n for n in range(max(1, spec.nodes - spec.model_parallel), spec.nodes + spec.model_parallel + 1) if n <= most and n * spec.gpus_per_node % spec.model_parallel == 0]
    near = (max((n for n in good if n < spec.nodes), default=None), min((n for n in good if n > spec.nodes), default=None))
    choices = " or ".join(str(n) for n in near if n)
    return f"set count: {choices}, or " if choices else ""


def _data_parallel_as_stated(spec: JobSpec) -> Iterator[Diagnostic]:
    """The data-parallel size follows from the others; a job that states it must state that number."""
    if spec.data is not None and spec.data != spec.data_parallel:
        yield _error(
            spec, 303, "data-parallel-mismatch",
            f"parallel.data is {spec.data}, but {spec.world} GPUs / {spec.model_parallel} per copy = {spec.data_parallel}; "
            f"{spec.data} copies take {spec.data * spec.model_parallel} GPUs",
            ("parallel", "data"), f"leave parallel.data out, or set it to {spec.data_parallel}",
        )  # fmt: skip


def _batch_divides(spec: JobSpec) -> Iterator[Diagnostic]:
    """Megatron-LM: global batch divisible by micro batch * data-parallel size. DeepSpeed: train batch = micro * steps * size."""
    step = spec.micro_batch * spec.data_parallel
    if spec.global_batch % step:
        below = spec.global_batch // step * step
        choices = " or ".join(str(n) for n in (below, below + step) if n)
        yield _error(
            spec, 304, "batch-not-divisible",
            f"global_batch {spec.global_batch} is no multiple of {step} = micro_batch {spec.micro_batch} * {spec.data_parallel} copies of the model",
            ("global_batch",), f"set global_batch: {choices}",
            (("parallel",), f"{spec.world} GPUs / (tensor {spec.tensor} * pipeline {spec.pipeline} * context {spec.context}) = {spec.data_parallel} copies"),
        )  # fmt: skip


def _micro_batches_fill_the_interleaved_schedule(spec: JobSpec) -> Iterator[Diagnostic]:
    """megatron-core schedules: the interleaved schedule works through micro batches in groups of the pipeline size."""
    divides = spec.global_batch % (spec.micro_batch * spec.data_parallel) == 0
    if spec.virtual > 1 and divides and spec.micro_batches % spec.pipeline:
        step = spec.micro_batch * spec.data_parallel * spec.pipeline
        below = spec.global_batch // step * step
        yield _error(
            spec, 305, "micro-batches-not-divisible",
            f"each copy works through {spec.micro_batches} micro batches a step, no multiple of pipeline {spec.pipeline}, as virtual stages need",
            ("global_batch",), f"set global_batch: {' or '.join(str(n) for n in (below, below + step) if n)}, or virtual: 1",
            (("parallel", "virtual"), f"{spec.virtual} chunks a stage run in groups of {spec.pipeline} micro batches"),
        )  # fmt: skip


def _width_divides(spec: JobSpec) -> Iterator[Diagnostic]:
    """megatron-core TransformerConfig: heads divisible by the tensor size; query groups divide it or are divided by it."""
    model, t = spec.model, spec.tensor
    if model.heads % t:
        yield _error(spec, 307, "heads-not-divisible", f"{model.heads} attention heads of {model.id} do not divide over tensor {t}", ("parallel", "tensor"), f"use a divisor of {model.heads}")
    repeat = groups_repeat(spec)
    if not model.latent and model.kv_heads % t and not (repeat and t % model.kv_heads == 0):
        yield _error(
            spec, 308, "kv-heads-not-divisible",
            f"{model.kv_heads} key-value heads of {model.id} and tensor {t}: neither divides the other" if repeat else f"{model.kv_heads} key-value heads of {model.id} do not divide over tensor {t}",
            ("parallel", "tensor"), f"use a divisor{' or a multiple' if repeat else ''} of {model.kv_heads}",
        )  # fmt: skip
    if model.ffn_hidden % t:
        yield _error(spec, 309, "ffn-not-divisible", f"feed-forward size {model.ffn_hidden} of {model.id} does not divide over tensor {t}", ("parallel", "tensor"), f"use a divisor of {model.ffn_hidden}")


def _sequence_divides(spec: JobSpec) -> Iterator[Diagnostic]:
    """Megatron's context parallelism gives each rank one early and one late piece; sequence parallelism cuts what is left.
    DeepSpeed's (Ulysses) gives each rank a share of the heads instead."""
    c, pieces = spec.context, 2 * spec.context
    if spec.framework == "deepspeed":
        if spec.sequence % c:
            yield _error(spec, 310, "sequence-not-divisible", f"sequence {spec.sequence} does not divide over context {c}", ("sequence",), f"use a multiple of {c}")
        if spec.model.heads % c:
            yield _error(spec, 307, "heads-not-divisible", f"{spec.model.heads} attention heads do not divide over context {c}, as DeepSpeed's sequence parallelism needs", ("parallel", "context"), f"use a divisor of {spec.model.heads}")
        elif spec.model.kv_heads % c and c % spec.model.kv_heads:  # deepspeed/runtime/sequence_parallel/ulysses_sp.py
            yield _error(spec, 308, "kv-heads-not-divisible", f"{spec.model.kv_heads} key-value heads and context {c}: neither divides the other, as DeepSpeed's sequence parallelism needs", ("parallel", "context"), f"use a divisor or a multiple of {spec.model.kv_heads}")
    elif spec.framework == "fsdp" and spec.titan and spec.sequence % (pieces * spec.tensor):  # torchtitan, ParallelDims.seq_len_divisor
        yield _error(spec, 310, "sequence-not-divisible", f"sequence {spec.sequence} does not divide into {pieces * spec.tensor} pieces, as TorchTitan needs with tensor {spec.tensor} and context {c}", ("sequence",), f"use a multiple of {pieces * spec.tensor}")
    elif c > 1 and spec.sequence % pieces:
        yield _error(spec, 310, "sequence-not-divisible", f"sequence {spec.sequence} does not divide into {pieces} pieces, two for each of context {c}", ("sequence",), f"use a multiple of {pieces}")
    elif spec.sequence_parallel and spec.local_sequence % spec.tensor:
        yield _error(spec, 310, "sequence-not-divisible", f"{spec.local_sequence} tokens on a rank do not divide over tensor {spec.tensor}, as sequence parallelism needs", ("sequence",), f"use a multiple of {c * spec.tensor}")


def _sequence_is_known_to_the_model(spec: JobSpec) -> Iterator[Diagnostic]:
    """The published model was made for sequences up to a length; longer ones need another position scaling."""
    if spec.sequence > spec.model.max_sequence:
        yield Diagnostic(
            "IAC320", "sequence-beyond-model", "warning",
            f"sequence {spec.sequence} is longer than the {spec.model.max_sequence} tokens that {spec.model.id} was published for",
            spec.at("sequence"), help="train from scratch, or scale the rotary positions in the training script",
        )  # fmt: skip


def _parts_have_their_partner(spec: JobSpec) -> Iterator[Diagnostic]:
    """Options that Megatron refuses or, worse, switches off in silence when what they refine is absent."""
    if spec.sequence_parallel and spec.tensor == 1:
        yield _error(spec, 311, "sequence-parallel-without-tensor", "sequence parallelism with tensor 1: Megatron switches it off in silence", ("parallel", "sequence"), "set parallel.sequence: false, or use tensor above 1")
    if spec.virtual > 1 and spec.pipeline == 1 and spec.framework == "megatron":  # elsewhere it is refused whole (IAC316)
        yield _error(spec, 312, "virtual-without-pipeline", f"virtual {spec.virtual} with pipeline 1: there is no pipeline to interleave", ("parallel", "virtual"), "leave virtual out, or use pipeline above 1")
    for name, least in (("expert", 1), ("expert_tensor", 1), ("expert_capacity", 0)):
        if (getattr(spec, name) or 0) > least and not spec.model.experts:
            yield _error(spec, 313, "expert-parallel-of-dense-model", f"{name} {getattr(spec, name)}, but {spec.model.id} has no experts", ("parallel", name), f"leave {name} out")


def _tensor_stays_in_the_node(spec: JobSpec) -> Iterator[Diagnostic]:
    """Tensor parallelism talks in every layer and needs NVLink; placement relies on whole groups in a node, or on groups of whole nodes."""
    if not spec.keeps_to_nvlink:
        inside = [str(n) for n in range(1, spec.nvlink_domain + 1) if replace(spec, tensor=n).keeps_to_nvlink]
        joined = f"the {spec.gpus_per_node} GPUs of a node" if spec.nvlink_domain == spec.gpus_per_node else f"the {spec.nvlink_domain} GPUs that NVLink joins into whole nodes"
        yield _error(
            spec, 314, "tensor-leaves-node", f"tensor {spec.tensor} does not divide {joined}, so its groups would leave {'NVLink' if spec.has_nvlink else 'the node'}",
            ("parallel", "tensor"), f"use {', '.join(inside)}",
        )  # fmt: skip


def _framework_can(spec: JobSpec) -> Iterator[Diagnostic]:
    """DeepSpeed's PipelineEngine refuses ZeRO 2 and 3, and ``deepspeed.initialize`` makes a mesh of data and one more dimension; the
    rest is what only one of the two frameworks has."""
    if spec.framework == "megatron":
        if spec.zero:
            yield _error(spec, 315, "zero-outside-deepspeed", f"zero {spec.zero} is a DeepSpeed stage, but the framework is megatron", ("zero",), "leave zero out: Megatron's distributed optimizer shards as stage 1 does; or use framework: deepspeed")
        return
    if spec.virtual > 1:
        yield _error(spec, 316, "virtual-outside-megatron", f"an interleaved pipeline schedule is Megatron's, not {spec.framework}'s", ("parallel", "virtual"), "leave virtual out, or use framework: megatron")
    if spec.framework == "fsdp":
        return
    if spec.sequence_parallel:
        yield _error(spec, 317, "sequence-parallel-outside-megatron", "this sequence parallelism is Megatron's; DeepSpeed cuts the sequence by parallel.context", ("parallel", "sequence"), "set parallel.sequence: false, or use framework: megatron")
    if spec.pipeline > 1 and spec.zero > 1:
        yield _error(spec, 318, "zero-with-pipeline", f"DeepSpeed's pipeline engine refuses zero {spec.zero}: it needs whole gradients", ("zero",), "use zero: 1, or pipeline: 1")
    cuts = [f"{name} {size}" for name, size in (("tensor", spec.tensor), ("pipeline", spec.pipeline), ("context", spec.context)) if size > 1]
    if spec.context > 1 and len(cuts) > 1:
        yield _error(
            spec, 323, "deepspeed-cuts-combined", f"DeepSpeed cuts the sequence of whole copies of the model, not by {' and '.join(cuts)} together",
            ("parallel",), "set parallel.context: 1, or use framework: megatron",
        )  # fmt: skip
    if spec.zero == 0 and spec.gradients == "fp32":
        yield _error(spec, 321, "fp32-gradients-without-zero", "DeepSpeed refuses fp32 gradients for bf16 weights without ZeRO", ("gradients",), "use zero: 1 or more, or gradients: bf16")


def _groups_keep_to_whole_nodes(spec: JobSpec) -> Iterator[Diagnostic]:
    """Ranks fill nodes in order; when a family's group starts in the middle of a node, nodes differ and cannot be placed."""
    if spec.keeps_to_nvlink and node_share(spec) is None:
        rest = max(1, spec.gpus_per_node // spec.tensor)
        yield _error(
            spec, 319, "group-straddles-nodes",
            f"a node holds {rest} positions of context {spec.context}, {spec.data_parallel} copies and pipeline {spec.pipeline}, which do not fill it evenly: "
            "the program would start, but some groups begin in the middle of a node, and no placement of this plan is counted for that",
            ("parallel",), f"choose context and count so that {rest} divides them, or is divided by them, in that order",
        )  # fmt: skip
    elif spec.model.experts and not experts_keep_to_nodes(spec) and not (spec.model.experts.count % spec.expert or spec.model.experts.hidden % spec.expert_tensor):
        yield _error(
            spec, 319, "group-straddles-nodes",
            f"an expert group is {spec.expert * expert_stride(spec)} ranks in a row, which neither divide the {spec.gpus_per_node} GPUs of a node nor fill whole ones",
            ("parallel", "expert"), f"choose expert so that its groups divide {spec.gpus_per_node} GPUs, or are divided by them",
        )  # fmt: skip


SHAPE: tuple[Rule, ...] = (*STAGES, _width_divides, _sequence_divides, _sequence_is_known_to_the_model, _parts_have_their_partner, _tensor_stays_in_the_node, _framework_can, *LIMITS, *RELEASES)
BATCH: tuple[Rule, ...] = (_data_parallel_as_stated, *WORLD, _batch_divides, _micro_batches_fill_the_interleaved_schedule, _groups_keep_to_whole_nodes)
