"""Queues that Slurm would misread."""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Diagnostic


def partitions(blueprint: Blueprint) -> Iterator[Diagnostic]:
    """IAC221 reserved-partition-name, IAC222 default-partitions: none or several, IAC223 nothing-to-schedule."""
    scheduler = blueprint.scheduler
    if scheduler is None:
        return
    if scheduler.partitions is None:
        from ... import catalog

        if not any(catalog.system(p.system).gpus for p in blueprint.nodes.values()):
            yield Diagnostic("IAC223", "nothing-to-schedule", "error", "no pool has GPUs; name the partitions and their pools", ("scheduler",), on_key=True)
        return
    for name in scheduler.partitions:
        if name == "default":
            yield Diagnostic("IAC221", "reserved-partition-name", "error", "'default' is a word of Slurm and cannot name a partition", ("scheduler", "partitions", name), on_key=True)
    defaults = [n for n, p in scheduler.partitions.items() if p.default]
    if len(scheduler.partitions) > 1 and len(defaults) != 1:
        message = f"{len(defaults)} of {len(scheduler.partitions)} partitions are the default, one must be"
        yield Diagnostic("IAC222", "default-partitions", "error", message, ("scheduler", "partitions"), on_key=True)
