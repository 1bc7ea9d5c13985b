"""What experts, uneven stages, groups of shards and offload ask of a job's other numbers; rules of ``batch.check``.

Each rule names the place of the program that enforces it, or that takes the number without a word and does something else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from iacgen.diagnostics import Diagnostic
from iacgen.training.data import token_bytes
from iacgen.training.said import Rule, error

if TYPE_CHECKING:
    from iacgen.training.spec import JobSpec

STRETCHED_FROM = 8192
"""Tokens from which Megatron-LM stretches rotary positions (megatron-core 0.16, RotaryEmbedding._apply_scaling)."""
FP8_CAPABILITY = 8.9
FP8_ROWS, FP8_SIDE = 8, 16
"""Transformer Engine, pytorch/utils.py: first compute capability, and what rows and columns of fp8 matrices are multiples of."""


def _experts_divide(spec: JobSpec) -> Iterator[Diagnostic]:
    """Megatron-LM validate_args and DeepSpeed moe/layer.py: experts divisible by the expert-parallel size. A tensor group of experts
    cuts each of them."""
    experts = spec.model.experts
    if experts is None:
        return
    if experts.count % spec.expert:
        yield error(spec, 324, "experts-not-divisible", f"{experts.count} experts of a layer of {spec.model.id} do not divide over expert {spec.expert}", ("parallel", "expert"), f"use a divisor of {experts.count}")
    if experts.hidden % spec.expert_tensor:
        yield error(spec, 309, "ffn-not-divisible", f"feed-forward size {experts.hidden} of an expert does not divide over expert_tensor {spec.expert_tensor}", ("parallel", "expert_tensor"), f"use a divisor of {experts.hidden}")
    if spec.expert_tensor > 1 and spec.framework != "megatron":
        yield error(spec, 326, "expert-tensor-outside-megatron", f"expert_tensor {spec.expert_tensor} is Megatron's; {spec.framework} keeps each expert on one GPU", ("parallel", "expert_tensor"), "leave expert_tensor out, or use framework: megatron")
    shared = experts.shared * experts.hidden
    if shared % spec.tensor:  # megatron-core, SharedExpertMLP, is cut like an ordinary feed-forward
        yield error(spec, 309, "ffn-not-divisible", f"the experts that every token goes to are {shared} wide together, which tensor {spec.tensor} does not divide", ("parallel", "tensor"), f"use a divisor of {shared}")
    if spec.framework == "megatron" and spec.tensor > 1 and not spec.sequence_parallel:  # megatron-core, MoELayer.forward, whatever the expert size
        yield error(
            spec, 327, "experts-without-sequence-parallelism", f"experts beside tensor {spec.tensor} without sequence parallelism",
            ("parallel", "sequence"), "leave parallel.sequence out: it is on by default",
        )  # fmt: skip


def _expert_grid_divides(spec: JobSpec) -> Iterator[Diagnostic]:
    """megatron-core parallel_state: the world is a multiple of expert_tensor * expert * pipeline. DeepSpeed cuts expert groups out of
    the copies of the model (utils/groups.py)."""
    if spec.model.experts is None:
        return
    size = spec.expert_tensor * spec.expert * spec.pipeline
    if spec.framework == "deepspeed" and spec.data_parallel % spec.expert:
        yield error(spec, 325, "expert-groups-not-divisible", f"expert {spec.expert} does not divide the {spec.data_parallel} copies of the model", ("parallel", "expert"), f"use a divisor of {spec.data_parallel}")
    elif spec.world % size:
        left, rest = divmod(spec.world, spec.expert_tensor * spec.pipeline)
        advice = f"use a size of expert that divides {left}" if not rest else f"choose expert_tensor and expert so that their product times pipeline {spec.pipeline} divides {spec.world}"
        yield error(
            spec, 325, "expert-groups-not-divisible",
            f"{spec.world} GPUs do not divide by expert_tensor {spec.expert_tensor} * expert {spec.expert} * pipeline {spec.pipeline} = {size}",
            ("parallel", "expert_tensor" if rest else "expert"), advice,
        )  # fmt: skip


def _ends_are_said_once(spec: JobSpec) -> Iterator[Diagnostic]:
    """megatron-core TransformerConfig: numbers of the first and last stage stand beside neither the embedding nor the loss as a layer.
    DeepSpeed and FSDP have no names for either."""
    named = [name for name in ("first_layers", "last_layers") if getattr(spec, name) is not None]
    counted = [name for name in ("embedding_as_layer", "loss_as_layer") if getattr(spec, name)]
    for name in (*named, *counted):
        if spec.framework != "megatron":
            yield error(spec, 328, "uneven-stages-refused", f"{name} is Megatron's; {spec.framework} lays stages out by its own rule", ("parallel", name), f"leave {name} out, or use framework: megatron")
        elif spec.pipeline == 1:
            yield error(spec, 328, "uneven-stages-refused", f"{name} with pipeline 1: there is one stage, which has all layers", ("parallel", name), f"leave {name} out, or use pipeline above 1")
    if named and counted and spec.framework == "megatron" and spec.pipeline > 1:
        yield error(
            spec, 328, "uneven-stages-refused", f"{named[0]} beside {counted[0]}: Megatron takes a number of layers or counts the ends as layers, not both",
            ("parallel", named[0]), f"leave out {named[0]} or {counted[0]}", (("parallel", counted[0]), "says the same in another way"),
        )  # fmt: skip


def _shards_have_a_group(spec: JobSpec) -> Iterator[Diagnostic]:
    """PyTorch's device mesh for hybrid sharding is copies * shards; DeepSpeed (utils/groups.py) cuts the world into secondary groups,
    and reads zero_hpz_partition_size at stage 3 alone."""
    same = spec.data_parallel * spec.context
    if spec.shard_group and spec.framework != "fsdp":
        yield error(spec, 332, "shard-group-refused", f"shard_group is FSDP's; {spec.framework} shards over all copies of the model", ("shard_group",), "leave shard_group out, or use framework: fsdp")
    elif spec.shard_group and same % spec.shard_group:
        yield error(spec, 332, "shard-group-refused", f"shard_group {spec.shard_group} does not divide the {same} GPUs that hold the same part of the model", ("shard_group",), f"use a divisor of {same}")
    elif spec.shard_group and spec.shard_group % spec.context:
        yield error(
            spec, 332, "shard-group-refused", f"shard_group {spec.shard_group} is no multiple of context {spec.context}: the GPUs that share a sequence share its shards",
            ("shard_group",), f"use a multiple of {spec.context}", (("parallel", "context"), "PyTorch's mesh shards over copies and parts of a sequence together"),
        )  # fmt: skip
    if spec.secondary_group and (spec.framework != "deepspeed" or spec.zero < 3):
        yield error(spec, 332, "shard-group-refused", "a second copy of the weights is kept at ZeRO stage 3 alone", ("secondary_group",), "leave secondary_group out, or use framework: deepspeed with zero: 3")
    elif spec.secondary_group and spec.world % spec.secondary_group:
        yield error(spec, 332, "shard-group-refused", f"secondary_group {spec.secondary_group} does not divide the {spec.world} GPUs of the job", ("secondary_group",), f"use a divisor of {spec.world}")


def _fsdp_shards(spec: JobSpec) -> Iterator[Diagnostic]:
    """PyTorch's FSDP shards weights, gradients and optimizer together; it has no stage for the optimizer alone."""
    if spec.framework == "fsdp" and spec.zero < 2:
        yield error(spec, 333, "fsdp-stage-unknown", f"zero is {spec.zero}, and FSDP shards weights, gradients and optimizer at once", ("zero",), "use zero: 3, or 2 to keep the weights gathered between the passes of a step")


def _offload_has_a_program(spec: JobSpec) -> Iterator[Diagnostic]:
    """DeepSpeed: offload of weights and of anything to NVMe works at stage 3 (zero/stage3.py), of the optimizer to the CPU from stage 1
    on; at lower stages the keys are read and nothing happens. Megatron: --optimizer-cpu-offload. FSDP: all shards or none, to the CPU."""
    optimizer, weights = spec.offload_optimizer, spec.offload_weights
    if optimizer == weights == "none":
        return
    at, faults = ("offload", "optimizer" if optimizer != "none" else "weights"), []
    if spec.framework == "megatron" and (weights != "none" or optimizer == "nvme"):
        faults.append(("Megatron offloads the optimizer, to the CPU, and nothing else", "use offload: {optimizer: cpu}"))
    if spec.framework == "fsdp" and (optimizer, weights) != ("cpu", "cpu"):
        faults.append(("FSDP offloads weights, gradients and optimizer together, to the CPU", "use offload: {optimizer: cpu, weights: cpu}"))
    if spec.framework == "deepspeed" and spec.zero == 0:
        faults.append(("DeepSpeed offloads nothing without ZeRO", "use zero: 3, or 1 for the optimizer alone"))
    elif spec.framework == "deepspeed" and spec.zero < 3 and (weights != "none" or optimizer == "nvme"):
        faults.append((f"at zero {spec.zero} DeepSpeed offloads the optimizer, to the CPU, and nothing else", "use zero: 3, or offload: {optimizer: cpu}"))
    for message, help in faults:
        yield error(spec, 329, "offload-refused", message, at, help)


def _fp8_has_a_program(spec: JobSpec) -> Iterator[Diagnostic]:
    """Megatron: --fp8-format, by Transformer Engine, which wants Ada or newer (compute capability 8.9) and matrices whose rows are a
    multiple of 8 and whose columns one of 16 (its ``assert_dim_for_fp8_exec``). DeepSpeed's configuration has no fp8 for a model's own
    layers, and PyTorch's FSDP none without a converter of the script."""
    if not spec.fp8:
        return
    at, model, t = ("precision",), spec.model, spec.tensor
    if spec.framework != "megatron":
        yield error(spec, 339, "fp8-refused", f"precision fp8 is Megatron's; no file of a {spec.framework} job can ask for it", at, "use framework: megatron, or leave precision out")
        return
    if float(spec.gpu.compute_capability or 0) < FP8_CAPABILITY:
        yield error(spec, 339, "fp8-refused", f"{spec.gpu.name} has no fp8 that Transformer Engine uses", at, f"leave precision out, or take GPUs of compute capability {FP8_CAPABILITY} or more")
    inner = model.experts.hidden // spec.expert_tensor if model.experts else model.ffn_hidden // t
    sides = {"hidden size": model.hidden, "feed-forward size on a GPU": inner, "size of a GPU's heads": model.heads // t * model.head_dim}
    odd = [f"{name} {size}" for name, size in sides.items() if size % FP8_SIDE]
    rows = spec.local_sequence * spec.micro_batch // (t if spec.sequence_parallel else 1)
    if rows % FP8_ROWS:
        odd.append(f"{rows} tokens in a pass on a GPU")
    if odd:
        yield error(spec, 339, "fp8-refused", f"fp8 wants sides that are multiples of {FP8_SIDE} and {FP8_ROWS}: {', '.join(odd)}", at, "leave precision out, or cut the model otherwise")


def _positions_have_a_program(spec: JobSpec) -> Iterator[Diagnostic]:
    """Megatron-LM's --position-embedding-type knows learned_absolute, rope, mrope, yarn, relative and none, and no ALiBi (arXiv:2108.12409)."""
    if spec.framework == "megatron" and spec.model.positions == "alibi":
        yield Diagnostic(
            "IAC337", "alibi-in-megatron", "warning",
            f"{spec.model.id} knows places by ALiBi, which Megatron-LM does not compute: the files train it without positions, another model at the same cost",
            spec.at("model"), help="use framework: deepspeed with a script that has ALiBi, or positions: rope in a model of your own",
        )  # fmt: skip


def _titan_cuts_the_sequence(spec: JobSpec) -> Iterator[Diagnostic]:
    """torchtitan 0.2.2, models/llama3 and deepseek_v3, infra/parallelize.py: norms are SequenceParallel wherever there is tensor parallelism."""
    if spec.framework == "fsdp" and spec.titan and spec.tensor > 1 and not spec.sequence_parallel:
        yield error(
            spec, 338, "tensor-without-sequence-parallelism", f"TorchTitan cuts the sequence wherever it cuts layers, and the plan counts whole ones beside tensor {spec.tensor}",
            ("parallel", "sequence"), "leave parallel.sequence out: it is on by default",
        )  # fmt: skip


def _parts_have_a_program(spec: JobSpec) -> Iterator[Diagnostic]:
    """megatron-core 0.16, models/common/embeddings: language_model_embedding.py adds word and position, without a norm;
    rotary_pos_embedding.py, _apply_scaling, stretches from 8,192 tokens, whatever the arguments."""
    model, at = spec.model, spec.at("model")
    if spec.framework != "megatron":
        return
    if model.embedding_norm:
        yield Diagnostic(
            "IAC341", "part-unknown-to-megatron", "warning", f"{model.id} has a norm behind its embedding, which Megatron-LM does not have: the files train it without", at,
            help="use framework: deepspeed with a script that has the norm, or embedding_norm: false in a model of your own",
        )  # fmt: skip
    stretch = model.rope_stretch
    if stretch and spec.sequence > stretch.original != STRETCHED_FROM:
        yield Diagnostic(
            "IAC341", "part-unknown-to-megatron", "warning", f"{model.id} stretches its positions from {stretch.original} tokens, and Megatron-LM from {STRETCHED_FROM}", at,
            help=f"use framework: deepspeed with a script that does so, or a sequence of at most {stretch.original}",
        )  # fmt: skip


def _gradients_have_a_program(spec: JobSpec) -> Iterator[Diagnostic]:
    """accelerate 1.15, FullyShardedDataParallelPlugin.set_mixed_precision: with bf16 gradients are reduced in bf16, and no file or variable says
    another type. torchtitan 0.2.2, config/job_config.py: mixed_precision_reduce knows float32 alone."""
    if spec.framework != "fsdp":
        return
    if spec.titan and spec.gradients == "bf16":
        yield Diagnostic(
            "IAC340", "gradients-in-another-type", "warning", "TorchTitan sums gradients in fp32 alone, which takes twice the room and the bytes that bf16 was planned with",
            spec.at("gradients"), help="use gradients: fp32",
        )  # fmt: skip
    if not spec.titan and spec.gradients == "fp32" and spec.pipeline == 1 and spec.expert == 1:
        yield Diagnostic(
            "IAC340", "gradients-in-another-type", "warning",
            "Accelerate's bf16 sums gradients in bf16 and takes no other type from a file or a variable: fp32 is planned, and only the script can ask for it",
            spec.at("gradients"), help="use gradients: bf16, or give FullyShardedDataParallelPlugin a mixed_precision_policy with reduce_dtype torch.float32 and allow this finding",
        )  # fmt: skip


def _a_step_is_part_of_the_run(spec: JobSpec) -> Iterator[Diagnostic]:
    """A step takes whole sequences out of the data, each once; a run of less than a step has none."""
    step, run, told = spec.global_batch * spec.sequence, spec.wanted.tokens, spec.input
    if run is not None and step > run:
        yield error(
            spec, 355, "step-beyond-run", f"a step takes {step:,} tokens, and the whole run {run:,}",
            ("global_batch",), f"set global_batch: {max(run // spec.sequence, 1)} or less", (("tokens",), "is what the run takes"),
        )  # fmt: skip
    elif told is not None and told.size_bytes is not None and spec.global_batch > (held := told.size_bytes // (told.sample_bytes or token_bytes(spec))):
        yield error(
            spec, 355, "step-beyond-run", f"a step takes {spec.global_batch:,} samples, and the data set has {held:,}",
            ("global_batch",), f"set global_batch: {max(held, 1)} or less", (("input", "size"), "is the data set"),
        )  # fmt: skip


def _what_is_repeated_was_kept(spec: JobSpec) -> Iterator[Diagnostic]:
    """megatron-core, TransformerConfig.recompute_modules: selective recomputation repeats the core of attention (arXiv:2205.05198, section
    4), whose matrices flash attention never stores (arXiv:2205.14135)."""
    if spec.recompute == "selective" and spec.flash_attention:
        yield Diagnostic(
            "IAC345", "recompute-frees-nothing", "warning",
            f"{spec.name} computes attention again in the backward pass, to free matrices that flash attention never stores: it takes longer and as much memory",
            spec.at("recompute"), help="leave recompute out, or use recompute: full where the job does not fit",
        )  # fmt: skip


LIMITS: tuple[Rule, ...] = (
    _experts_divide, _ends_are_said_once, _fsdp_shards, _offload_has_a_program, _fp8_has_a_program, _positions_have_a_program, _parts_have_a_program, _gradients_have_a_program,
    _what_is_repeated_was_kept, _titan_cuts_the_sequence, _a_step_is_part_of_the_run,
)  # fmt: skip
WORLD: tuple[Rule, ...] = (_expert_grid_divides, _shards_have_a_group)
"""Rules that ask for the number of copies of the model."""
