"""Weights, gradients and optimizer of one GPU by framework, and what the optimizer's step needs besides.

Each line is so many bytes a parameter, whole on every GPU or shared by the ranks that hold the same part of the model. Adam keeps
fp32 weights and two moments, 12 bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from iacgen.training.groups import expert_stride

if TYPE_CHECKING:
    from iacgen.training.spec import JobSpec


class Rate(NamedTuple):
    """Bytes for each parameter: on every GPU, and shared by its ranks."""

    whole: float = 0
    shared: float = 0

    def bytes(self, parameters: int, ranks: int) -> int:
        return int(-(-(self.whole * parameters) // 1)) + int(-(-(self.shared * parameters) // ranks))


class States(NamedTuple):
    """Four lines of the memory table, as bytes or as rates. ``step`` lives while the optimizer works."""

    weights: int
    gradients: int
    optimizer: int
    step: int


NONE = Rate()
SUB_GROUP = 1_000_000_000
"""Elements that ZeRO stage 3 updates at a time: DeepSpeed's default of sub_group_size."""
SHARDED_BF16 = (0, 6, 2)
"""First DeepSpeed that shards the optimizer of a bf16 pipeline whatever the stage (BF16_Optimizer, deepspeedai/DeepSpeed#1801)."""


def ranks(spec: JobSpec) -> tuple[int, int]:
    """Ranks that share the states of a part of the model, and those that share the states of a group of experts.

    Data-parallel and context-parallel ranks together hold the same weights; experts are further apart (megatron-core,
    expert_data_parallel_group, and DeepSpeed, utils/groups.py).
    """
    same = spec.shard_group if spec.framework == "fsdp" and spec.shard_group else spec.data_parallel * spec.context
    return same, max(1, same * spec.tensor // (expert_stride(spec) * spec.expert))


def sums_are_flat(spec: JobSpec) -> bool:
    """Whether DeepSpeed trains with its BF16_Optimizer, which sums gradients in one flat tensor beside those of each backward pass:
    at stage 1 with fp32 gradients, and in any bf16 pipeline without ZeRO."""
    if spec.zero == 1:
        return spec.gradients == "fp32" and spec.offload_optimizer == "none"
    return spec.zero == 0 and spec.pipeline > 1 and not (spec.framework_version and spec.framework_version < SHARDED_BF16)


def sums_over_pipeline(spec: JobSpec) -> bool:
    """Whether FSDP exchanges gradients once a step and not in each micro batch: PyTorch's pipeline stages switch reduction and resharding off
    behind each backward pass, and reduce behind the last one (torch 2.13, distributed/pipelining/stage.py, perform_reduce_grad)."""
    return spec.framework == "fsdp" and spec.pipeline > 1


def state_bytes(spec: JobSpec, parameters: int, experts: int = 0) -> States:
    """Bytes on one GPU that holds ``parameters`` and, of its experts, ``experts`` more."""
    same, alike = ranks(spec)
    weights, gradients, optimizer, step = RATES[spec.framework](spec)
    lines = [rate.bytes(parameters, same) + rate.bytes(experts, alike) for rate in (weights, gradients, optimizer, step)]
    if spec.framework == "deepspeed" and spec.zero == 3 and step.shared:
        lines[3] = int(step.shared * min(SUB_GROUP, -(-parameters // same) + -(-experts // alike)))
    if spec.framework == "deepspeed" and spec.secondary_group:
        lines[0] += Rate(shared=2).bytes(parameters + experts, spec.secondary_group)
    return States(*lines)


def _megatron(spec: JobSpec) -> tuple[Rate, Rate, Rate, Rate]:
    """bf16 weights, gradients in their own type. The optimizer, sharded or not, turns bf16 gradients into fp32 for its step
    (megatron-core, distrib_optimizer, _copy_model_grads_to_main_grads); fp32 gradients it takes as they are."""
    fp32 = spec.gradients == "fp32"
    if spec.offload_optimizer != "none":
        return Rate(2), Rate(4 if fp32 else 2), NONE, NONE
    line = (lambda n: Rate(shared=n)) if spec.distributed_optimizer else Rate
    return Rate(2), Rate(4 if fp32 else 2), line(12), NONE if fp32 else line(4)


def _deepspeed(spec: JobSpec) -> tuple[Rate, Rate, Rate, Rate]:
    """ZeRO (arXiv:1910.02054) shares the optimizer from stage 1 on, gradients from 2 on, weights at 3, as DeepSpeed lays them out:

    * stages 1 and 2 with bf16 gradients (zero/stage_1_and_2.py): a flat copy of the GPU's share of the gradients and its fp32
      form, 2 + 4, live during the step;
    * where sums are flat (bf16_optimizer.py): bf16 gradients of each backward pass beside the sum, both whole;
    * no ZeRO and no pipeline (fp16/fused_optimizer.py): fp32 gradients one by one and flat, 4 + 4, during the step;
    * stage 3 (zero/stage3.py): fp32 gradients of one sub-group at a time.
    """
    fp32 = spec.gradients == "fp32"
    if sums_are_flat(spec):
        return Rate(2), Rate(2 + (4 if fp32 else 2)), Rate(shared=12), NONE if fp32 else Rate(shared=4)
    if spec.zero == 0:
        return Rate(2), Rate(2), Rate(12), Rate(8)
    optimizer, step = Rate(shared=12), Rate(shared=4 if fp32 or spec.zero == 3 else 6)
    if spec.zero == 1:
        gradients = Rate(2)
    else:
        gradients = Rate(shared=4 if fp32 else 2)
    if spec.offload_optimizer != "none":
        optimizer, step = NONE, NONE
        gradients = gradients if spec.zero == 1 else NONE
    weights = Rate(2) if spec.zero < 3 else NONE if spec.offload_weights != "none" else Rate(shared=2)
    return weights, gradients, optimizer, step


def _fsdp(spec: JobSpec) -> tuple[Rate, Rate, Rate, Rate]:
    """PyTorch's FSDP with bf16 compute: fp32 shards of weights, gradients and moments; what is gathered lies in the buffers.
    Without resharding after the forward pass (stage 2) the bf16 weights stay gathered. A pipeline keeps them so behind each backward
    pass, and sums whole gradients until the last micro batch is through (`sums_over_pipeline`). Offload takes all shards to the CPU."""
    gathered, summed = 2 if spec.zero < 3 else 0, 0
    if sums_over_pipeline(spec):
        gathered, summed = 2, 4 if spec.gradients == "fp32" else 2
    if spec.offload_weights != "none" or spec.offload_optimizer != "none":
        return Rate(gathered), Rate(summed), NONE, NONE
    return Rate(gathered, 4), Rate(summed, 4), Rate(shared=8), NONE


RATES = {"megatron": _megatron, "deepspeed": _deepspeed, "fsdp": _fsdp}
