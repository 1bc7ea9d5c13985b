"""NCCL told to tell much, by a thousand processes.

Why: each rank writes hundreds of lines at INFO. The job's log becomes the bottleneck of its start, and the line that matters is not
found.

Bad::

    nccl:
      set: {NCCL_DEBUG: INFO}

Good: ``NCCL_DEBUG: WARN``, which iacgen writes; INFO for one job of a few nodes. To look for a fault once, allow this finding with the
reason.

Source: NCCL user guide 2.30, environment variables, NCCL_DEBUG; the limit of 1,000 ranks is a judgement.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject

MANY = 1000  # ranks


@rule("IAC519", "nccl-log-of-many-ranks", allowable=True)
def check(subject: Subject) -> Iterator[Found]:
    wanted = subject.blueprint.nccl
    value = wanted.set.get("NCCL_DEBUG", "") if wanted else ""
    ranks = max((job.world for job in subject.jobs.values()), default=0)
    if value.upper() == "INFO" and ranks > MANY:
        yield Found(f"{ranks:,} ranks write at {value}", ("nccl", "set", "NCCL_DEBUG"))
