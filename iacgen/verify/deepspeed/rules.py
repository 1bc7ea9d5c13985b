"""What DeepSpeed accepts in silence though it is wrong, and whether its files say what the plan says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from iacgen.diagnostics.model import Diagnostic

from ..findings import finding

_HOST_LINE = re.compile(r"([A-Za-z0-9][A-Za-z0-9.-]*) slots=([1-9][0-9]*)")


def of_plan(name: str, read: dict[str, Any], job: Any) -> Iterator[Diagnostic]:
    """The values that DeepSpeed read are those of the plan: batches, ZeRO, types, groups, and the buckets that the memory table counts."""
    spec = job.spec
    planned = {
        "train_batch_size": spec.global_batch,
        "train_micro_batch_size_per_gpu": spec.micro_batch,
        "gradient_accumulation_steps": job.micro_batches,
        "zero_stage": spec.zero,
        "bf16": True,
        "grad_accum_dtype": spec.gradients,
        "autotp_size": spec.tensor if spec.tensor > 1 and spec.pipeline == 1 else 0,
        "mesh": [job.data_parallel, spec.context] if spec.context > 1 else None,
        "activation_checkpoint_interval": 1 if spec.pipeline > 1 and spec.recompute == "full" else 0,
    }
    for key, where in (("offload_optimizer", spec.offload_optimizer), ("offload_param", spec.offload_weights)):
        planned[key] = None if where == "none" else [where, spec.offload_path if where == "nvme" else None]
    planned["zero_hpz_partition_size"] = spec.secondary_group or 1
    if spec.zero:
        planned |= {"reduce_bucket_size": job.buckets.reduce, "overlap_comm": spec.pipeline == 1}
    if spec.zero == 3:
        planned["max_live_parameters"] = job.buckets.live
    for key, value in planned.items():
        if read[key] != value:
            yield finding("deepspeed-not-of-plan", f"{name}: {key} is {read[key]}, but the job was planned with {value}", spec.origin)


def of_config(name: str, config: dict[str, Any], world: int, optimizers: list[str], schedulers: list[str]) -> Iterator[Diagnostic]:
    """Values that DeepSpeed's configuration class lets through and that fail or do nothing later (measured with 0.19.8)."""

    def idle(message: str) -> Diagnostic:
        return finding("idle-deepspeed-value", f"{name}: {message}")

    optimizer = config.get("optimizer", {}).get("type")
    if optimizer is not None and optimizer not in optimizers and optimizer.lower() not in optimizers:
        yield idle(f"DeepSpeed knows no optimizer {optimizer!r}")
    scheduler = config.get("scheduler", {}).get("type")
    if scheduler is not None and scheduler not in schedulers:
        yield idle(f"DeepSpeed knows no scheduler {scheduler!r}; it has {', '.join(schedulers)}")
    if config.get("gradient_clipping", 0) < 0:
        yield idle("gradient_clipping is below 0")
    zero = config.get("zero_optimization", {})
    for section in ("offload_optimizer", "offload_param"):
        offload = zero.get(section) or {}
        if offload.get("device") == "nvme" and not offload.get("nvme_path"):
            yield idle(f"{section} to nvme has no nvme_path")
    if (zero.get("offload_param") or {}).get("device", "none") != "none" and zero.get("stage", 0) < 3:
        yield idle("offload_param does nothing below stage 3")
    if (zero.get("offload_optimizer") or {}).get("device") == "nvme" and zero.get("stage", 0) < 3:
        yield idle("offload_optimizer to nvme does nothing below stage 3")
    elif (zero.get("offload_optimizer") or {}).get("device", "none") != "none" and zero.get("stage", 0) < 1:
        yield idle("offload_optimizer does nothing without ZeRO")
    group = zero.get("zero_hpz_partition_size", 1)
    if group > 1 and zero.get("stage", 0) < 3:
        yield idle("zero_hpz_partition_size does nothing below stage 3")
    if group < 1 or world % group:
        yield idle(f"zero_hpz_partition_size {group} does not divide {world} ranks")
    if "stages" in config.get("pipeline", {}):
        yield idle("pipeline.stages is read by nobody: the number of stages is that of the pipeline module")


def of_hostfile(name: str, text: str, read: dict[str, Any], placement: Any) -> Iterator[Diagnostic]:
    """The hosts as DeepSpeed read them are those of the placement, in its order, each with all of its GPUs.

    DeepSpeed takes ``slots=0`` and ``slots=8abc`` for what they begin with; here each line is whole or wrong.
    """
    if read["hosts_refused"]:
        yield finding("deepspeed-refused", f"{name}: {read['hosts_refused']}")
        return
    for number, line in enumerate(text.splitlines(), 1):
        if not _HOST_LINE.fullmatch(line):
            yield finding("hostfile-not-of-placement", f"{name}:{number}: {line!r} is not a host and its slots")
    found = [tuple(pair) for pair in read["hosts"]]
    wanted = [(host, placement.gpus_per_node) for host in placement.hosts]
    if len(found) != len(wanted):
        yield finding("hostfile-not-of-placement", f"{name}: {len(found)} hosts, but the placement has {len(wanted)}")
    for number, (ours, theirs) in enumerate(zip(wanted, found, strict=False), 1):
        if ours != theirs:
            yield finding("hostfile-not-of-placement", f"{name}: host {number} is {theirs[0]} with {theirs[1]} slots, but the placement has {ours[0]} with {ours[1]}")
            return
