"""Megatron-LM: the arguments of a job, its environment, and the script that each rank runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from iacgen.render import render as render_template

if TYPE_CHECKING:
    from iacgen.design.model import Design
    from iacgen.placement.project import Project
    from iacgen.training import Job, JobSpec

Flag = tuple[str, str | int | float | None]
"""An argument without its dashes, and its value; None where it takes none."""

_TIMEOUT_MINUTES = 30
_NEEDS_ONE_CONNECTION_BELOW = 10.0  # compute capability; Megatron-LM validate_args


def render(project: Project) -> dict[str, str]:
    """``training/<job>/`` for each Megatron job: ``megatron.args``, ``megatron.env`` and ``launch.sh``."""
    tree = {}
    for name, job in project.jobs.items():
        if job.spec.framework == "megatron":
            pool = project.design.pool_of(project.placements[name].hosts[0])
            folder = f"training/{name}"
            tree[f"{folder}/megatron.args"] = render_template("training/megatron.args.j2", flags=flags(job, project.design), words=job.spec.arguments)
            tree[f"{folder}/megatron.env"] = render_template("training/megatron.env.j2", variables=environment(job.spec))
            tree[f"{folder}/launch.sh"] = render_template(
                "training/megatron.sh.j2", job=name, pool=pool.name, world=job.world, ranks_per_node=job.spec.gpus_per_node, script=job.spec.entrypoint,
                first_host=project.placements[name].hosts[0],
            )
    return tree


def environment(spec: JobSpec) -> tuple[tuple[str, str, str], ...]:
    """(name, value, why) of the variables that Megatron itself asks for."""
    if (spec.tensor > 1 or spec.context > 1) and float(spec.gpu.compute_capability) < _NEEDS_ONE_CONNECTION_BELOW:
        why = f"Tensor or context parallelism below compute capability 10 ({spec.gpu.name} has {spec.gpu.compute_capability}): Megatron refuses to start without it."
        return (("CUDA_DEVICE_MAX_CONNECTIONS", "1", why),)
    return ()


def flags(job: Job, design: Design) -> tuple[Flag, ...]:
    """The arguments that follow from the blueprint, in groups. Tokenizer, learning rate and length of the run are the user's."""
    return (*_parallel(job), *_batch(job), *_model(job), *_experts(job.spec), *_numbers(job.spec), *_storage(job, design))


def _parallel(job: Job) -> Iterator[Flag]:
    spec = job.spec
    yield "tensor-model-parallel-size", spec.tensor
    yield "pipeline-model-parallel-size", spec.pipeline
    if spec.virtual > 1:
        yield "num-virtual-stages-per-pipeline-rank", spec.virtual
    if spec.embedding_as_layer:
        yield "account-for-embedding-in-pipeline-split", None
    if spec.loss_as_layer:
        yield "account-for-loss-in-pipeline-split", None
    if spec.first_layers is not None:
        yield "decoder-first-pipeline-num-layers", spec.first_layers
    if spec.last_layers is not None:
        yield "decoder-last-pipeline-num-layers", spec.last_layers
    yield "context-parallel-size", spec.context
    if spec.model.experts:
        yield "expert-model-parallel-size", spec.expert
        # Left out it would be the tensor size, and the groups of experts would be others than the placement's.
        yield "expert-tensor-parallel-size", spec.expert_tensor
    if spec.sequence_parallel:
        yield "sequence-parallel", None
    if spec.distributed_optimizer:
        yield "use-distributed-optimizer", None
        yield "overlap-param-gather", None
    if spec.offload_optimizer == "cpu":
        yield "optimizer-cpu-offload", None
        yield "use-precision-aware-optimizer", None  # validate_args: the offload is a part of that optimizer
    yield "overlap-grad-reduce", None
    yield "distributed-timeout-minutes", _TIMEOUT_MINUTES


def _batch(job: Job) -> Iterator[Flag]:
    yield "micro-batch-size", job.spec.micro_batch
    yield "global-batch-size", job.spec.global_batch
    yield "seq-length", job.spec.sequence
    yield "max-position-embeddings", max(job.spec.sequence, job.spec.model.max_sequence)


def _model(job: Job) -> Iterator[Flag]:
    model = job.spec.model
    yield "num-layers", model.layers
    yield "hidden-size", model.hidden
    yield "ffn-hidden-size", model.ffn_hidden
    yield "num-attention-heads", model.heads
    yield "kv-channels", model.head_dim
    if model.kv_heads < model.heads and not model.latent:  # validate_args: one or the other
        yield "group-query-attention", None
        yield "num-query-groups", model.kv_heads
    yield "vocab-size", model.vocabulary
    if not model.tied_embeddings:
        yield "untie-embeddings-and-output-weights", None
    if model.gated_ffn:
        yield "swiglu", None
    yield "normalization", "RMSNorm" if model.norm == "rmsnorm" else "LayerNorm"
    yield "norm-epsilon", model.norm_epsilon
    if model.bias != "all":
        yield "disable-bias-linear", None
    if model.bias == "qkv":
        yield "add-qkv-bias", None
    if model.bias == "all" and model.experts:
        yield "no-bias-dropout-fusion", None  # megatron-core, TEGroupedMLP: not beside experts that have a bias
    yield from _positions(model, job.spec.sequence)
    if model.latent:
        yield "multi-latent-attention", None
        yield "rope-type", "rope"  # left out, Megatron-LM stretches the positions of latent attention by YaRN
        yield "no-rope-fusion", None  # MLATransformerConfig: the fused kernel, which Megatron-LM takes by default, knows YaRN alone
        yield "qk-layernorm", None  # here the norms of the compressed queries, keys and values (arXiv:2405.04434)
        if model.latent.query_rank:
            yield "q-lora-rank", model.latent.query_rank
        yield "kv-lora-rank", model.latent.kv_rank
        yield "qk-head-dim", model.head_dim
        yield "qk-pos-emb-head-dim", model.latent.rope_dim
        yield "v-head-dim", model.latent.value_dim


def _positions(model: Any, sequence: int) -> Iterator[Flag]:
    """Megatron-LM has no ALiBi: a model with it is computed as one without positions, which costs the same (IAC337 says so)."""
    if model.rope_base is not None:
        yield "position-embedding-type", "rope"
        yield "rotary-base", round(model.rope_base)
        if model.rope_stretch and sequence > model.rope_stretch.original:
            yield "use-rope-scaling", None
            yield "rope-scaling-factor", model.rope_stretch.factor
    else:
        yield "position-embedding-type", "learned_absolute" if model.positions == "learned" else "none"


def _experts(spec: JobSpec) -> Iterator[Flag]:
    """Experts of the model and how tokens get to them; the loss that balances them is the user's."""
    experts = spec.model.experts
    if experts is None:
        return
    yield "num-experts", experts.count
    yield "moe-router-topk", experts.active
    yield "moe-ffn-hidden-size", experts.hidden
    if experts.shared:
        yield "moe-shared-expert-intermediate-size", experts.shared * experts.hidden
    if experts.dense_layers:
        yield "moe-layer-freq", f"([0]*{experts.dense_layers}+[1]*{spec.model.layers - experts.dense_layers})"
    if experts.router_score == "sigmoid" or experts.router_bias:
        yield "moe-router-score-function", "sigmoid"  # megatron-core: the bias of an expert goes with no other
    if experts.router_bias:
        yield "moe-router-enable-expert-bias", None
    if experts.router_scale:
        yield "moe-router-topk-scaling-factor", experts.router_scale
    if experts.router_groups:
        yield "moe-router-num-groups", experts.router_groups
        yield "moe-router-group-topk", experts.router_active_groups
    yield "moe-grouped-gemm", None
    yield "moe-token-dispatcher-type", "alltoall"
    if spec.expert_capacity is not None:
        yield "moe-expert-capacity-factor", spec.expert_capacity


def _numbers(spec: JobSpec) -> Iterator[Flag]:
    yield "bf16", None
    if spec.fp8:
        # Transformer Engine's delayed scaling, with the history that it has by default; Megatron's own would be one step.
        yield "fp8-format", "hybrid"
        yield "fp8-amax-history-len", 1024
        yield "fp8-amax-compute-algo", "max"
    if spec.gradients == "bf16":
        yield "grad-reduce-in-bf16", None
    else:
        yield "accumulate-allreduce-grads-in-fp32", None
    if spec.flash_attention:
        # FlashAttention wants queries and values of one size, which latent attention has not; cuDNN's kernel does not.
        yield "attention-backend", "fused" if spec.model.latent else "flash"
    if not spec.dropout:
        yield "attention-dropout", 0.0
        yield "hidden-dropout", 0.0
    if spec.recompute != "none":
        yield "recompute-granularity", spec.recompute
    if spec.recompute == "full":
        # One layer at a time, as the memory table counts.
        yield "recompute-method", "uniform"
        yield "recompute-num-layers", 1


def _storage(job: Job, design: Design) -> Iterator[Flag]:
    spec = job.spec
    if spec.data_path:
        yield "data-path", spec.data_path
    mount = getattr(design.storage.get(spec.checkpoint_to or ""), "mount", None)
    if mount:
        yield "save", f"{mount}/checkpoints/{job.name}"
        yield "load", f"{mount}/checkpoints/{job.name}"
        yield "ckpt-format", "torch_dist"
    if mount and job.checkpoints:
        yield "save-interval", job.checkpoints.steps
        yield "exit-signal-handler", None  # SIGTERM: save and end
    yield "num-workers", job.reading.workers
    if spec.flash_attention:
        yield "no-create-attention-mask-in-dataloader", None  # a byte for each pair of tokens in each sample, which flash attention never looks at
    stage = job.reading.input.stage
    if mount and stage and stage.local:
        # Rank 0 builds the index that all ranks read, and the data's own folder is another one on each node.
        yield "data-cache-path", f"{mount}/data-cache/{job.name}"
