"""A checkpoint that takes longer than the time between failures allows.

Why: a job saves as often as its failures demand. When one save takes a tenth of that interval, the GPUs spend a tenth of their time on
saving, beside what each failure costs.

Bad::

    training:
      pretrain: {model: llama-3.1-405b, nodes: gpu, count: 2048, checkpoint: {to: scratch, target: 20min}}

Good: ``target: 60s``, and a store that writes as fast.

Source: Daly, A higher order estimate of the optimum checkpoint interval (2006); failure rates of arXiv:2407.21783.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...training.checkpoints import Checkpoints, daly_interval_s
from ...units import seconds
from ..rule import Found, rule
from ..subject import Subject

MOST = 0.1  # of the time between saves


@rule("IAC545", "save-longer-than-it-pays", "warning", lab=None)
def check(subject: Subject) -> Iterator[Found]:
    for name, job in subject.jobs.items():
        plan = job.checkpoints
        if plan and plan.save_s > MOST * plan.interval_s:
            message = f"a save of {seconds(plan.save_s)} every {seconds(plan.interval_s)} takes {plan.save_s / plan.interval_s:.0%} of the time"
            yield Found(message, ("training", name, "checkpoint", "target"), help=_help(plan))


def _help(plan: Checkpoints) -> str:
    """The longest save that takes less, by halving: a shorter one comes more often."""
    save = plan.save_s
    while save > MOST * daly_interval_s(save, plan.mttf_s):
        save *= 0.9
    return f"promise {seconds(save)} or less, and a store that writes as fast"
