"""A step in which each copy of the model does one small thing.

Why: at the end of a step all copies exchange their gradients. With one sequence for each copy there is nothing to hide the exchange
behind, and it takes the larger part of the step.

Bad::

    training:
      pretrain: {nodes: gpu, count: 128, global_batch: 1024, micro_batch: 1, sequence: 512}    # one short sequence a GPU

Good: a larger global batch, or fewer nodes.

Source: arXiv:1909.08053 and arXiv:2104.04473: the share of communication falls with the tokens of a copy; 4,096 tokens a GPU and step
is a judgement.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject

LEAST = 4096  # tokens for each GPU and step
MANY = 64  # GPUs


@rule("IAC546", "tiny-steps", "info", lab=None)
def check(subject: Subject) -> Iterator[Found]:
    for name, job in subject.jobs.items():
        tokens = job.spec.global_batch * job.spec.sequence // job.world
        if job.world > MANY and tokens < LEAST and job.spec.model_parallel == 1:
            yield Found(f"{tokens} tokens for each GPU and step", ("training", name, "global_batch"))
