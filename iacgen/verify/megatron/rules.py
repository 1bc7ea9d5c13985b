"""What Megatron-LM's own script checks, or switches off in silence: its rules, on the values parsed back out of the files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from iacgen.diagnostics.model import Diagnostic
from iacgen.diagnostics.nearest import closest

from ..findings import finding

Flags = dict[str, str | None]

# An argument → the one it means nothing without (Megatron-LM validate_args, 2026-08).
_NEEDS = {
    "overlap-param-gather": "use-distributed-optimizer",
    "num-query-groups": "group-query-attention",
    "recompute-method": "recompute-granularity",
    "recompute-num-layers": "recompute-method",
    "rotary-base": "position-embedding-type",
    "save-interval": "save",
    "exit-signal-handler": "save",
    "optimizer-cpu-offload": "use-precision-aware-optimizer",
    "use-precision-aware-optimizer": "use-distributed-optimizer",
    "expert-model-parallel-size": "num-experts",
    "moe-router-topk": "num-experts",
    "moe-grouped-gemm": "num-experts",
    "moe-layer-freq": "num-experts",
    "moe-expert-capacity-factor": "num-experts",
    "fp8-amax-history-len": "fp8-format",
    "fp8-amax-compute-algo": "fp8-format",
    "q-lora-rank": "multi-latent-attention",
    "kv-lora-rank": "multi-latent-attention",
    "rope-type": "multi-latent-attention",
    "rope-scaling-factor": "use-rope-scaling",
    "moe-router-group-topk": "moe-router-num-groups",
}


def of_arguments(name: str, said: dict[str, Any], job: Any, design: Any) -> Iterator[Diagnostic]:
    """The file says what the plan says, no more and no less, and nothing that Megatron would ignore."""
    flags: Flags = said["flags"]
    for repeated in said["repeated"]:
        yield finding("idle-megatron-argument", f"{name}: --{repeated} stands twice, and the last one wins")
    wanted = {**planned(job), **stored(job, design)}
    users = {word.removeprefix("--").partition("=")[0] for word in job.spec.arguments}
    for flag, value in wanted.items():
        if flag in users:
            continue
        if flag not in flags:
            yield finding("megatron-not-of-plan", f"{name}: --{flag} is missing", job.spec.origin)
        elif not _same(flags[flag], value):
            yield finding("megatron-not-of-plan", f"{name}: --{flag} is {flags[flag]}, but the job was planned with {value}", job.spec.origin)
    for flag in flags:
        if flag not in wanted and flag not in users:
            near = closest(flag, wanted, likeness=0.8)
            yield finding("unplanned-megatron-argument", f"{name}: --{flag} does not come from the blueprint", help=f"did you mean --{near}?" if near else None)
    yield from _idle(name, flags)


def _idle(name: str, flags: Flags) -> Iterator[Diagnostic]:
    for flag, partner in _NEEDS.items():
        if flag in flags and partner not in flags:
            yield finding("idle-megatron-argument", f"{name}: --{flag} without --{partner}")
    if "sequence-parallel" in flags and flags.get("tensor-model-parallel-size") in (None, "1"):
        yield finding("idle-megatron-argument", f"{name}: --sequence-parallel with tensor 1 is switched off in silence")


def _same(text: str | None, value: object) -> bool:
    if isinstance(value, float):
        try:
            return text is not None and float(text) == value
        except ValueError:
            return False
    return text == (None if value is None else str(value))


def planned(job: Any) -> dict[str, object]:
    """Argument → value by the plan; None for an argument that stands alone."""
    spec, model = job.spec, job.spec.model
    rms, full = model.norm == "rmsnorm", spec.recompute == "full"
    always = {
        "tensor-model-parallel-size": spec.tensor, "pipeline-model-parallel-size": spec.pipeline, "context-parallel-size": spec.context,
        "overlap-grad-reduce": None, "distributed-timeout-minutes": 30,
        "micro-batch-size": spec.micro_batch, "global-batch-size": spec.global_batch,
        "seq-length": spec.sequence, "max-position-embeddings": max(spec.sequence, model.max_sequence),
        "num-layers": model.layers, "hidden-size": model.hidden, "ffn-hidden-size": model.ffn_hidden,
        "num-attention-heads": model.heads, "kv-channels": model.head_dim, "vocab-size": model.vocabulary,
        "normalization": "RMSNorm" if rms else "LayerNorm", "norm-epsilon": float(model.norm_epsilon), "bf16": None,
    }  # fmt: skip
    sometimes = (
        (spec.virtual > 1, {"num-virtual-stages-per-pipeline-rank": spec.virtual}),
        (spec.embedding_as_layer, {"account-for-embedding-in-pipeline-split": None}),
        (spec.loss_as_layer, {"account-for-loss-in-pipeline-split": None}),
        (spec.sequence_parallel, {"sequence-parallel": None}),
        (spec.distributed_optimizer, {"use-distributed-optimizer": None, "overlap-param-gather": None}),
        (model.kv_heads < model.heads and not model.latent, {"group-query-attention": None, "num-query-groups": model.kv_heads}),
        (spec.first_layers is not None, {"decoder-first-pipeline-num-layers": spec.first_layers}),
        (spec.last_layers is not None, {"decoder-last-pipeline-num-layers": spec.last_layers}),
        (spec.offload_optimizer == "cpu", {"optimizer-cpu-offload": None, "use-precision-aware-optimizer": None}),
        (not model.tied_embeddings, {"untie-embeddings-and-output-weights": None}),
        (model.gated_ffn, {"swiglu": None}),
        (model.bias != "all", {"disable-bias-linear": None}),
        (model.bias == "qkv", {"add-qkv-bias": None}),
        (model.bias == "all" and bool(model.experts), {"no-bias-dropout-fusion": None}),
        (True, {"position-embedding-type": {"rope": "rope", "learned": "learned_absolute", "alibi": "none"}[model.positions]}),
        (model.rope_base is not None, {"rotary-base": round(model.rope_base or 0)}),
        (model.rope_stretch is not None and spec.sequence > model.rope_stretch.original, {"use-rope-scaling": None, "rope-scaling-factor": float(model.rope_stretch.factor if model.rope_stretch else 1)}),
        (spec.fp8, {"fp8-format": "hybrid", "fp8-amax-history-len": 1024, "fp8-amax-compute-algo": "max"}),
        (spec.gradients == "bf16", {"grad-reduce-in-bf16": None}),
        (spec.gradients == "fp32", {"accumulate-allreduce-grads-in-fp32": None}),
        (spec.flash_attention, {"attention-backend": "fused" if model.latent else "flash"}),
        (not spec.dropout, {"attention-dropout": 0.0, "hidden-dropout": 0.0}),
        (spec.recompute != "none", {"recompute-granularity": spec.recompute}),
        (full, {"recompute-method": "uniform", "recompute-num-layers": 1}),
    )
    return always | {flag: value for holds, values in sometimes if holds for flag, value in values.items()} | _experts(spec) | _latent(model)


def _experts(spec: Any) -> dict[str, object]:
    experts = spec.model.experts
    if not experts:
        return {}
    out: dict[str, object] = {
        "num-experts": experts.count, "moe-router-topk": experts.active, "moe-ffn-hidden-size": experts.hidden,
        "expert-model-parallel-size": spec.expert, "expert-tensor-parallel-size": spec.expert_tensor,
        "moe-grouped-gemm": None, "moe-token-dispatcher-type": "alltoall",
    }  # fmt: skip
    if experts.shared:
        out["moe-shared-expert-intermediate-size"] = experts.shared * experts.hidden
    if experts.dense_layers:
        out["moe-layer-freq"] = f"([0]*{experts.dense_layers}+[1]*{spec.model.layers - experts.dense_layers})"
    if experts.router_bias:
        out |= {"moe-router-score-function": "sigmoid", "moe-router-enable-expert-bias": None}
    if experts.router_score == "sigmoid":
        out["moe-router-score-function"] = "sigmoid"
    if experts.router_scale is not None:
        out["moe-router-topk-scaling-factor"] = float(experts.router_scale)
    if experts.router_groups is not None:
        out |= {"moe-router-num-groups": experts.router_groups, "moe-router-group-topk": experts.router_active_groups}
    if spec.expert_capacity is not None:
        out["moe-expert-capacity-factor"] = float(spec.expert_capacity)
    return out


def _latent(model: Any) -> dict[str, object]:
    latent = model.latent
    if not latent:
        return {}
    out: dict[str, object] = {"multi-latent-attention": None, "rope-type": "rope", "no-rope-fusion": None, "qk-layernorm": None, "kv-lora-rank": latent.kv_rank, "qk-head-dim": model.head_dim}
    out |= {"qk-pos-emb-head-dim": latent.rope_dim, "v-head-dim": latent.value_dim}
    return out | ({"q-lora-rank": latent.query_rank} if latent.query_rank else {})


def stored(job: Any, design: Any) -> dict[str, object]:
    """Where data lies and state is saved."""
    spec, out = job.spec, {}
    if spec.data_path:
        out["data-path"] = spec.data_path
    mount = getattr(design.storage.get(spec.checkpoint_to or ""), "mount", None)
    if mount:
        folder = f"{mount}/checkpoints/{job.name}"
        out |= {"save": folder, "load": folder, "ckpt-format": "torch_dist"}
        out |= {"save-interval": job.checkpoints.steps, "exit-signal-handler": None} if job.checkpoints else {}
    told = job.reading.input
    out["num-workers"] = told.workers or job.reading.workers
    if spec.flash_attention:
        out["no-create-attention-mask-in-dataloader"] = None
    if mount and told.stage and told.stage.local:
        out["data-cache-path"] = f"{mount}/data-cache/{job.name}"
    return out
