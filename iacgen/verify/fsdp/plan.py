"""What the files of an FSDP job must say, worked out from the job and not from the target."""

from __future__ import annotations

import shlex
from typing import Any

from ..launch import data_and_saves, to_a_rank
from ..script import Step, steps

TITAN = {"llama-3-8b", "llama-3-70b", "llama-3.1-405b", "deepseek-v3"}
"""Models that TorchTitan 0.2.2 has with the same numbers; the judge looks their flavors up in its source."""


def on_accelerate(job: Any) -> bool:
    """Accelerate has neither stages nor groups of experts."""
    return job.spec.framework == "fsdp" and job.spec.pipeline == 1 and job.spec.expert == 1


def on_titan(job: Any) -> bool:
    """TorchTitan has these models."""
    return job.spec.framework == "fsdp" and job.spec.model.id in TITAN


def shards(spec: Any) -> tuple[int, int]:
    """(copies of the states, parts of one copy): one copy lies on ``shard_group`` GPUs, of which ``context`` share a sequence."""
    same = spec.world // (spec.tensor * spec.pipeline)
    group = spec.shard_group or same
    return same // group, group // spec.context


def words(job: Any, design: Any) -> dict[str, str]:
    """What job.env must say beside Accelerate's variables: name → one word of shell."""
    spec = job.spec
    copies, parts = shards(spec)
    out = {
        "TRAIN_MODEL": spec.model.id, "TRAIN_SEQUENCE_LENGTH": spec.sequence, "TRAIN_GLOBAL_BATCH": spec.global_batch, "TRAIN_MICRO_BATCH": spec.micro_batch,
        "TRAIN_ACCUMULATION": spec.global_batch // (spec.micro_batch * job.data_parallel), "TRAIN_RECOMPUTE": spec.recompute,
        "TRAIN_GRADIENTS": spec.gradients, "TRAIN_MESH": f"{spec.pipeline},{copies},{parts},{spec.context},{spec.tensor}",
    }  # fmt: skip
    if spec.tensor > 1:
        out["TRAIN_SEQUENCE_PARALLEL"] = "true" if spec.sequence_parallel else "false"
    if spec.expert > 1:
        out["TRAIN_EXPERT"] = spec.expert
    if spec.expert_capacity is not None:
        out["TRAIN_EXPERT_CAPACITY"] = f"{spec.expert_capacity:g}"
    out |= data_and_saves(job, design)
    return {name: shlex.quote(str(value)) for name, value in out.items()}


def launch(job: Any, placement: Any, design: Any) -> tuple[Step, ...]:
    """A launcher runs the script once for each rank."""
    titan = on_titan(job) and job.spec.entrypoint.endswith("/torchtitan/train.py")
    config = ' --job.config_file="$here/torchtitan.toml"' if titan else ""
    more = "".join(f" {shlex.quote(word)}" for word in job.spec.arguments)
    return (
        *to_a_rank(job, placement, design.pool_of(placement.hosts[0]).name),
        Step("find_rank", "the launcher's names for a rank must become torch's"),
        Step("[[ -n ${RANK:-} ]] || die", "there is no rank without a launcher"),
        Step("source_nccl", "without NCCL's file NCCL takes any adapter"),
        Step("[[ ${CUDA_DEVICE_MAX_CONNECTIONS:-} != 1 ]] || die", "with one connection FSDP gathers weights after the computation that it should hide behind"),
        *steps('set -a\n. "$here/job.env"\n. "$here/data.env"\nset +a', "without its files the training script does not know the plan"),
        Step(f'exec "${{PYTHON:-python3}}" {shlex.quote(job.spec.entrypoint)}{config}{more} "$@"', "the training script must get the words of the blueprint"),
    )
