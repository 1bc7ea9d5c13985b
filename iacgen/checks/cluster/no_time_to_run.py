"""A partition whose jobs may not run at all.

Why: a limit of no time is written with figures like any other, and Slurm reads it as a limit of zero minutes: nothing that asks for
time is let in.

Bad::

    scheduler:
      partitions: {train: {nodes: [gpu], max_time: "00:00:00"}}

Good: ``max_time: "7-00:00:00"``.

Source: slurm.conf(5), MaxTime and EnforcePartLimits; sbatch of 22.05.8 and 24.11.5: "Requested time limit is
invalid".
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject


@rule("IAC506", "no-time-to-run")
def check(subject: Subject) -> Iterator[Found]:
    scheduler = subject.blueprint.scheduler
    for name, partition in (scheduler.partitions or {} if scheduler else {}).items():
        if not partition.max_time.strip("0:-"):
            yield Found(f"jobs of {name} may run for no time at all", ("scheduler", "partitions", name, "max_time"))
