"""Several partitions of which none, or more than one, is the default.

Why: a job that names no partition is refused when there is no default, and goes to the last one when there are two.

Bad::

    scheduler:
      partitions: {train: {nodes: [gpu]}, debug: {nodes: [gpu]}}

Good: ``train: {nodes: [gpu], default: true}``.

Source: slurm.conf(5), partition parameter Default.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..rule import Found, rule


@rule("IAC222", "default-partitions")
def check(blueprint: Blueprint) -> Iterator[Found]:
    partitions = (blueprint.scheduler and blueprint.scheduler.partitions) or {}
    defaults = [name for name, partition in partitions.items() if partition.default]
    if len(partitions) > 1 and len(defaults) != 1:
        message = f"{len(defaults)} of {len(partitions)} partitions are the default, one must be"
        related = tuple(Related(("scheduler", "partitions", name, "default"), "one of them") for name in defaults)
        yield Found(message, ("scheduler", "partitions"), related, on_key=True)
