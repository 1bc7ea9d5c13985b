"""What a release of the training program refuses when it starts, or at its first step; rules of ``batch.check``.

Each rule names the file of the program and the tags between which it was read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from iacgen.diagnostics import Diagnostic, Related
from iacgen.training.said import Rule, error

if TYPE_CHECKING:
    from iacgen.training.spec import JobSpec

MEGATRON = ((0, 12), (0, 19))
"""First and last megatron-core whose arguments were read, tag by tag, for every argument that is written (Megatron-LM, core_v0.12.1
to core_v0.19.0): 0.11 has neither --optimizer-cpu-offload nor --grad-reduce-in-bf16."""
LATENT_SINCE = (0, 14)
"""First with --rope-type: until 0.13.1 latent attention stretches its positions by YaRN whatever is asked."""
GROUPS_REPEAT_SINCE = (0, 16, 0)
"""megatron-core, TransformerConfig: until 0.15.3 key-value heads are a multiple of the tensor size, from 0.16.0 on also a divisor of it."""
EXPERT_BIAS_SINCE = (0, 15, 0)
STAGE_3_WITH_TENSOR = ((0, 16, 4), (0, 19, 5))
"""deepspeed/runtime/engine.py from the first to before the last of these tags: "the compatibility between 'autotp' and 'zero_stage = 3'
has not been validated"."""
WIDEST_HEAD = 256
"""Dao-AILab/flash-attention, csrc/flash_attn/flash_api.cpp: head dimension of the forward and the backward pass."""


def release(spec: JobSpec) -> tuple[int, int, int] | None:
    """The release that trains the job, with three numbers; None for the newest known."""
    major, minor, patch = (*spec.framework_version, 0, 0, 0)[:3]
    return (major, minor, patch) if spec.framework_version else None


def groups_repeat(spec: JobSpec) -> bool:
    """Whether tensor-parallel ranks may outnumber key-value heads, so that several keep the same one. TorchTitan's and Transformers'
    layers reshape what a rank has into whole heads; DeepSpeed's tensor groups deal out whole heads (module_inject/tp_shard.py)."""
    now = release(spec)
    return spec.framework == "megatron" and (now is None or now >= GROUPS_REPEAT_SINCE)


def _megatron_is_known(spec: JobSpec) -> Iterator[Diagnostic]:
    """megatron/training/arguments.py and the configurations that it reads arguments from, at each tag of ``MEGATRON``."""
    now = release(spec)
    ends = (LATENT_SINCE if spec.model.latent else MEGATRON[0], MEGATRON[1])
    if spec.framework != "megatron" or now is None or ends[0] <= now[:2] <= ends[1]:
        return
    first, last = (".".join(map(str, end)) for end in ends)
    yield Diagnostic(
        "IAC350", "release-not-written-for", "error",
        f"the arguments of {spec.name} are those of megatron-core {first} to {last}, and software.megatron is {'.'.join(map(str, spec.framework_version))}",
        spec.at("framework"), (Related(("software", "megatron"), "is the release that is installed"),),
        help=f"set software.megatron to a release from {first} to {last}",
    )  # fmt: skip


def _stage_3_has_no_experts(spec: JobSpec) -> Iterator[Diagnostic]:
    """deepspeed/runtime/engine.py, ``_validate_zero3_moe_compatibility`` (0.19.8), and "MoE not supported with Stage 3" of 0.14.5 to
    0.19.2: DeepSpeed's own MoE layers go with stages 0 to 2."""
    if spec.framework == "deepspeed" and spec.model.experts and spec.expert > 1 and spec.zero == 3:
        yield error(
            spec, 351, "experts-at-stage-3", f"expert {spec.expert} at zero 3: DeepSpeed refuses layers with groups of experts at this stage",
            ("zero",), "use zero: 2, or parallel.expert: 1", (("parallel", "expert"), "needs DeepSpeed's own MoE layers"),
        )  # fmt: skip


def _stage_3_has_no_tensor_groups(spec: JobSpec) -> Iterator[Diagnostic]:
    """deepspeed/runtime/engine.py, ``_configure_tensor_parallel``. Older releases read no autotp_size: there the script has the groups."""
    now, (first, beyond) = release(spec), STAGE_3_WITH_TENSOR
    if spec.framework == "deepspeed" and spec.tensor > 1 and spec.zero == 3 and now is not None and first <= now < beyond:
        yield error(
            spec, 352, "tensor-at-stage-3", f"tensor {spec.tensor} at zero 3, which DeepSpeed {'.'.join(map(str, spec.framework_version))} refuses",
            ("zero",), f"use zero: 2 or tensor: 1, or set software.deepspeed to {'.'.join(map(str, beyond))} or later",
            (("parallel", "tensor"), "is written as autotp_size"),
        )  # fmt: skip


def _expert_bias_is_whole(spec: JobSpec) -> Iterator[Diagnostic]:
    """megatron-core, TransformerConfig: "Bias in Moe is only supported when ETP==1". Until 0.14.0 grouped experts have no bias at all
    (transformer/moe/experts.py, "bias not supported in TEGroupedMLP yet")."""
    now = release(spec)
    if spec.framework != "megatron" or not spec.model.experts or spec.model.bias != "all":
        return
    if now is not None and now < EXPERT_BIAS_SINCE:
        yield error(
            spec, 353, "expert-bias-cut", f"the experts of {spec.model.id} have a bias, which megatron-core {'.'.join(map(str, spec.framework_version))} does not add to grouped ones",
            ("model",), f"set software.megatron to {'.'.join(map(str, EXPERT_BIAS_SINCE))} or later",
        )  # fmt: skip
    elif spec.expert_tensor > 1:
        yield error(
            spec, 353, "expert-bias-cut", f"expert_tensor {spec.expert_tensor}, and the experts of {spec.model.id} have a bias, which Megatron does not cut",
            ("parallel", "expert_tensor"), "leave expert_tensor out",
        )  # fmt: skip


def _heads_fit_flash_attention(spec: JobSpec) -> Iterator[Diagnostic]:
    """Megatron is told ``--attention-backend flash`` and stops without that kernel; PyTorch's attention takes another one."""
    model = spec.model
    if spec.framework == "megatron" and spec.flash_attention and not model.latent and model.head_dim > WIDEST_HEAD:
        yield error(
            spec, 354, "head-too-wide", f"heads of {model.id} are {model.head_dim} wide, and FlashAttention takes {WIDEST_HEAD} at most",
            ("model",), "take more and smaller heads, or another framework",
        )  # fmt: skip


RELEASES: tuple[Rule, ...] = (_megatron_is_known, _stage_3_has_no_experts, _stage_3_has_no_tensor_groups, _expert_bias_is_whole, _heads_fit_flash_attention)
