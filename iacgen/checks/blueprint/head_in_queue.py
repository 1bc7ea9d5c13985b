"""Head nodes in the cloud that a partition gives out.

Why: in the cloud a controller is a machine of its own kind, without EFA and without slurmd. Slurm would wait for a node that never
registers, and every job that is given it stays pending.

Bad::

    nodes:
      gpu: {site: ohio, system: p5.48xlarge, count: 16}
    scheduler: {kind: slurm, version: "24.11", controllers: gpu}

Good::

    nodes:
      gpu: {site: ohio, system: p5.48xlarge, count: 16}
      head: {site: ohio, system: m7i.4xlarge, count: 1}
    scheduler: {kind: slurm, version: "24.11", controllers: head}

Source: slurmctld accepts a node that never comes without a word (Slurm 22.05 to 26.05, measured); magic_castle#58.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..duties import aws_sites, places_in_queues, queued
from ..rule import Found, rule


@rule("IAC255", "head-in-queue")
def check(blueprint: Blueprint) -> Iterator[Found]:
    if blueprint.scheduler:
        pool = blueprint.scheduler.controllers
        if pool in queued(blueprint) and blueprint.nodes[pool].site in aws_sites(blueprint):
            yield Found(f"{pool} is in a partition; in the cloud controllers run no jobs", ("scheduler", "controllers"), places_in_queues(blueprint, pool))
