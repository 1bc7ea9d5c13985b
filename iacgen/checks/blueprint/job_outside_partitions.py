"""A job on a pool that no partition gives out.

Why: the batch script has to name a partition. Slurm never starts a job on nodes that stand in none.

Bad::

    scheduler:
      partitions: {cpu: {nodes: [ctl]}}
    training:
      pretrain: {nodes: gpu}

Good: ``train: {nodes: [gpu]}`` beside it.

Source: slurm.conf(5), PartitionName; a partition that names an undefined node is taken without a word (slurmctld 22.05.8, measured).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..duties import has_gpus, queued
from ..rule import Found, rule


@rule("IAC210", "job-outside-partitions")
def check(blueprint: Blueprint) -> Iterator[Found]:
    if blueprint.scheduler and blueprint.scheduler.partitions is not None:
        for name, job in blueprint.training.items():
            if job.nodes not in queued(blueprint) and has_gpus(blueprint, job.nodes):  # without GPUs is a finding of its own
                yield Found(f"no partition gives out {job.nodes}", ("training", name, "nodes"), (Related(("scheduler", "partitions"), "none of these"),), help=f"add {job.nodes} to a partition")
