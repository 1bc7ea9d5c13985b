"""A pipeline that stands still for a fifth of the step or more.

Why: the first and the last stage wait while a step fills and drains the pipeline: (stages - 1) / (micro batches x virtual stages) of
the time of the work itself; a quarter of that is a fifth of the whole step. Few micro batches leave most of the GPUs waiting.

Bad::

    training:
      pretrain: {global_batch: 16, micro_batch: 1, parallel: {pipeline: 8}}    # two copies: 8 micro batches each

Good: a larger global batch, more virtual stages, or fewer stages.

Source: arXiv:2104.04473, section 2.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import TYPE_CHECKING

from ..rule import Found, rule
from ..subject import Subject

if TYPE_CHECKING:
    from ...training import JobSpec

MOST = 0.25  # of the time of the work


@rule("IAC542", "pipeline-bubble", "warning", lab="info")
def check(subject: Subject) -> Iterator[Found]:
    for name, job in subject.jobs.items():
        spec = job.spec
        bubble = (spec.pipeline - 1) / (job.micro_batches * spec.virtual)
        if bubble > MOST:
            message = f"{spec.pipeline} stages and {job.micro_batches} micro batches: the pipeline stands still for {bubble / (1 + bubble):.0%} of the step"
            yield Found(message, ("training", name, "parallel", "pipeline"), help=_help(spec))


def _help(spec: JobSpec) -> str:
    """The smallest batch with little waiting that the schedule takes, and what else shortens it."""
    micro = ceil((spec.pipeline - 1) / (MOST * spec.virtual))
    if spec.virtual > 1:
        micro = ceil(micro / spec.pipeline) * spec.pipeline
    more = ", more virtual stages" if spec.framework == "megatron" else ""
    return f"set global_batch: {micro * spec.micro_batch * spec.data_parallel} or more{', a smaller micro_batch' if spec.micro_batch > 1 else ''}{more}, or fewer stages"
