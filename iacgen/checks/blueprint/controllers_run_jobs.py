"""Jobs on the hosts that run slurmctld.

Why: a job that fills memory or processors takes the controller down with it, and then nothing on the cluster starts or ends. With
GPUs in those hosts it is the most expensive place for a daemon, too.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 8}
    scheduler: {kind: slurm, version: "24.11", controllers: gpu}

Good: a small server of its own, ``controllers: ctl``.

Source: ai4d-iasc/trixie#93, slurmctld killed by a process beside it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..duties import aws_sites, places_in_queues, queued
from ..rule import Found, rule


@rule("IAC254", "controllers-run-jobs", "warning", lab="info")
def check(blueprint: Blueprint) -> Iterator[Found]:
    if blueprint.scheduler:
        pool = blueprint.scheduler.controllers
        if pool in queued(blueprint) and blueprint.nodes[pool].site not in aws_sites(blueprint):
            yield Found(f"jobs run on {pool}, and so does slurmctld", ("scheduler", "controllers"), places_in_queues(blueprint, pool))
