"""A pipeline that stands still for a quarter of the step.

Why: the first and the last stage wait while a step fills and drains the pipeline: (stages - 1) / (micro batches x virtual stages) of
the time of the work itself. Few micro batches leave most of the GPUs waiting.

Bad::

    training:
      pretrain: {global_batch: 16, micro_batch: 1, parallel: {pipeline: 8}}    # two copies: 8 micro batches each

Good: a larger global batch, more virtual stages, or fewer stages.

Source: arXiv:2104.04473, section 2.2.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject

MOST = 0.25  # of the time of the work


@rule("IAC542", "pipeline-bubble", "warning", lab="info")
def check(subject: Subject) -> Iterator[Found]:
    for name, job in subject.jobs.items():
        spec = job.spec
        bubble = (spec.pipeline - 1) / (job.micro_batches * spec.virtual)
        if bubble > MOST:
            message = f"{spec.pipeline} stages and {job.micro_batches} micro batches: the pipeline stands still for {bubble:.0%} of the work's time"
            yield Found(message, ("training", name, "parallel", "pipeline"))
