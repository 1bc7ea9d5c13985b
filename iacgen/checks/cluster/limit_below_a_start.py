"""A queue whose jobs are over before one of them has begun.

Why: a job that saves is told of its end in time for a step and a save. Where its queue gives it no more time than that and its start take,
it ends as it begins, goes back into the queue, and so on for ever.

Bad::

    scheduler:
      partitions: {train: {nodes: [gpu], max_time: "00:10:00"}}
    training:
      pretrain: {nodes: gpu, checkpoint: {to: scratch, target: 2min}}    # ten minutes to start, three to end

Good: ``max_time: "1-00:00:00"``.

Source: sbatch(1), --signal: the signal comes at once where less time is left than it asks for.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...diagnostics import Related
from ...training.checkpoints import SIGNAL_EARLY_S
from ...units import seconds
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC574", "limit-below-a-start")
def check(subject: Subject) -> Iterator[Found]:
    scheduler = subject.design.scheduler
    for name, job in subject.jobs.items():
        holding = [p for p in scheduler.partitions if subject.blueprint.training[name].nodes in p.pools] if scheduler else []
        queue = min(holding, key=lambda p: (not p.default, p.name), default=None)
        if queue is None or job.checkpoints is None or not (limit := _seconds(queue.max_time)):
            continue
        needed = job.reliability.restart_s + job.checkpoints.notice_s + SIGNAL_EARLY_S
        if limit <= needed:
            message = f"{seconds(limit)} are too short: {name} starts for {seconds(job.reliability.restart_s)} and is told {seconds(job.checkpoints.notice_s)} before its end"
            yield Found(message, ("scheduler", "partitions", queue.name, "max_time"), (Related(("training", name, "checkpoint"), "the job that saves"),))


def _seconds(limit: str) -> int:
    """A limit as the language has it: hours, minutes and seconds behind days that may be left out."""
    days, _, clock = limit.rpartition("-")
    hours, minutes, rest = clock.split(":")
    return ((int(days or 0) * 24 + int(hours)) * 60 + int(minutes)) * 60 + int(rest)
