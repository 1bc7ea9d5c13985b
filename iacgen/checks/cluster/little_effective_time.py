"""A job that loses a fifth of its time to failures.

Why: each failure costs the work since the last save and a restart, and each save stops the training. Where that is a fifth, a faster
restart or a faster store is worth more than more GPUs.

Bad::

    training:
      pretrain: {model: llama-3.1-405b, nodes: gpu, count: 2048, checkpoint: {to: scratch, target: 60s}, failures: {restart: 45min}}

Good: ``restart: 10min``.

Source: Daly, A higher order estimate of the optimum checkpoint interval (2006); arXiv:2407.21783 prints more than 90 %
effective training time.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...units import seconds
from ..rule import Found, rule
from ..subject import Subject
from .save_longer_than_it_pays import MOST

LEAST = 0.8


@rule("IAC573", "little-effective-time", "warning", lab=None)
def check(subject: Subject) -> Iterator[Found]:
    for name, job in subject.jobs.items():
        found, saves = job.reliability, job.checkpoints
        share = found.effective_share
        if saves is None or share is None or share >= LEAST or saves.save_s > MOST * saves.interval_s:  # that is a finding of its own
            continue
        message = f"{share:.0%} of the time goes into steps that count: a failure comes every {seconds(found.mttf_s)}, a restart takes {seconds(found.restart_s)} and a save {seconds(saves.save_s)}"
        yield Found(message, ("training", name), help="restart sooner (failures.restart), or save faster", on_key=True)
