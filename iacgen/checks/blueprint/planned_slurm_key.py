"""A key or word of slurm.conf that iacgen writes itself.

Why: nodes, queues, files and ports are said in several files that must agree. A second value would win over the first, in this file
alone.

Bad::

    scheduler:
      parameters: {SelectType: [select/linear]}

Good: leave it out, as iacgen writes it where it is right.

Source: cluster-toolkit#2124 and aws-parallelcluster's list of settings that a user may not override.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..rule import Found, rule
from ..slurm_keys import PLANNED, WRITTEN, given


@rule("IAC502", "planned-slurm-key")
def check(blueprint: Blueprint) -> Iterator[Found]:
    scheduler = blueprint.scheduler
    if scheduler is None:
        return
    for key in scheduler.parameters.keys() & PLANNED:
        yield Found(f"iacgen writes {key} itself", ("scheduler", "parameters", key), on_key=True)
    for key, i, word in given(scheduler.parameters):
        if word in WRITTEN[key]:
            yield Found(f"iacgen writes {word} into {key} itself", ("scheduler", "parameters", key, i))
