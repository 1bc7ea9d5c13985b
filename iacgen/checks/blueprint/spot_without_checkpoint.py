"""A job on spot capacity that saves no checkpoint.

Why: spot machines are taken back at any time. Without a checkpoint all work since the start is lost each time, and a long job never
ends.

Bad::

    nodes:
      gpu: {site: ohio, system: p5.48xlarge, count: 1, capacity: {kind: spot}}
    training:
      pretrain: {nodes: gpu}

Good: ``checkpoint: {to: fsx}``.

Source: aws-parallelcluster#3809 and #4172, long jobs on spot machines that start from the beginning.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..duties import on_spot
from ..rule import Found, rule


@rule("IAC250", "spot-without-checkpoint", lab="warning")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, job in blueprint.training.items():
        if not job.checkpoint and on_spot(blueprint, job.nodes):
            related = (Related(("nodes", job.nodes, "capacity"), "machines that can be taken back at any time"),)
            yield Found(f"the job runs on spot machines of {job.nodes} and saves nothing", ("training", name), related, on_key=True)
