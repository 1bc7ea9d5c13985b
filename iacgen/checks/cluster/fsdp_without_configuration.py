"""An FSDP job that is cut in a way for which nobody here has a configuration.

Why: Accelerate has no pipeline and no expert groups, and TorchTitan has its own models alone. The tree then holds the order of ranks, the
words of ``job.env`` and no configuration: memory and time are planned for a cut that only the script of the user can make.

Bad::

    training:
      pretrain: {model: mixtral-8x7b, framework: fsdp, parallel: {expert: 8}}

Good: leave ``pipeline`` and ``expert`` out, or ``framework: megatron``.

Source: accelerate 1.15, ParallelismConfig: replicate, shard, context, sequence and tensor sizes; torchtitan 0.2.2, torchtitan/models.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...training.spec import TITAN_MODELS
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC663", "fsdp-without-configuration", "warning")
def check(subject: Subject) -> Iterator[Found]:
    for name, job in subject.jobs.items():
        spec = job.spec
        if spec.framework != "fsdp" or spec.on_accelerate or spec.model.id in TITAN_MODELS:
            continue
        for key, size in (("pipeline", spec.pipeline), ("expert", spec.expert)):
            if size > 1:
                message = f"nobody here has a configuration for {key} {size} of {spec.model.id} by FSDP: job.env names it, and the script has to make it"
                yield Found(message, ("training", name, "parallel", key), help=f"leave {key} out, or use framework: megatron")
