"""A large job that saves nothing.

Why: a thousand GPUs fail every few hours, and the job starts from nothing each time. It never ends.

Bad::

    training:
      pretrain: {nodes: gpu, count: 64}

Good: ``checkpoint: {to: scratch, target: 60s}``.

Source: arXiv:2407.21783: 419 unexpected interruptions in 54 days on 16,384 GPUs; arXiv:2410.21680: 7.9 h between failures on 1,024.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject

MANY = 64  # GPUs; at the rates above one failure in a week or two


@rule("IAC540", "no-checkpoint", "warning", lab=None)
def check(subject: Subject) -> Iterator[Found]:
    for name, job in subject.jobs.items():
        if job.spec.checkpoint_to is None and job.world > MANY:
            yield Found(f"{job.world} {job.spec.gpu.noun}s, and nothing is saved", ("training", name), help="add checkpoint", on_key=True)
