"""An argument that undoes the plan.

Why: memory, placement and launch files follow from the blueprint. Further arguments come after the planned ones, and the last of two
wins: the job would be another than the one that was checked, and no file would say so.

Bad::

    training:
      pretrain: {framework: megatron, arguments: [--tensor-model-parallel-size=4]}

Good: ``parallel: {tensor: 4}``.

Source: aws-parallelcluster keeps a list of settings that a user may not override; argparse takes the last of two values.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..rule import Found, rule

MEGATRON = {
    "tensor-model-parallel-size": "parallel.tensor",
    "pipeline-model-parallel-size": "parallel.pipeline",
    "num-virtual-stages-per-pipeline-rank": "parallel.virtual",
    "num-layers-per-virtual-pipeline-stage": "parallel.virtual",
    "context-parallel-size": "parallel.context",
    "expert-model-parallel-size": "parallel.expert",
    "sequence-parallel": "parallel.sequence",
    "micro-batch-size": "micro_batch",
    "global-batch-size": "global_batch",
    "seq-length": "sequence",
    "max-position-embeddings": "sequence",
    "num-layers": "model",
    "hidden-size": "model",
    "ffn-hidden-size": "model",
    "num-attention-heads": "model",
    "num-query-groups": "model",
    "kv-channels": "model",
    "vocab-size": "model",
    "rope-type": "model",
    "qk-layernorm": "model",
    "use-rope-scaling": "model",
    "rope-scaling-factor": "model",
    "moe-router-topk": "model",
    "moe-router-score-function": "model",
    "moe-router-topk-scaling-factor": "model",
    "moe-router-num-groups": "model",
    "moe-router-group-topk": "model",
    "recompute-granularity": "recompute",
    "recompute-method": "recompute",
    "recompute-num-layers": "recompute",
    "fp8-format": "precision",
    "fp8-amax-history-len": "precision",
    "fp8-amax-compute-algo": "precision",
    "grad-reduce-in-bf16": "gradients",
    "accumulate-allreduce-grads-in-fp32": "gradients",
    "save": "checkpoint",
    "load": "checkpoint",
    "data-path": "data",
    "num-workers": "input.workers",
}
DEEPSPEED = {"deepspeed_config": "framework", "deepspeed": "framework"}
"""Argument → the key of the job that it follows from."""


@rule("IAC288", "planned-argument")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, job in blueprint.training.items():
        planned = MEGATRON if job.framework == "megatron" else DEEPSPEED
        for i, word in enumerate(job.arguments):
            option = word.partition("=")[0].removeprefix("--")
            if word.startswith("--") and (field := planned.get(option)):
                yield Found(f"--{option} follows from the blueprint", ("training", name, "arguments", i), help=f"set training.{name}.{field}")
