"""A job over several machines on spot capacity.

Why: when one machine is taken back the job stops on all of them, or hangs until a timeout. The more machines, the more often: sixteen
machines that last two days each on average stop the job every three hours.

Bad::

    nodes:
      gpu: {site: ohio, system: p5.48xlarge, count: 16, capacity: {kind: spot}}
    training:
      pretrain: {nodes: gpu, checkpoint: {to: fsx}}

Good: a capacity block for such a job; spot for jobs on one machine.

Source: aws-parallelcluster#1077, a job of several nodes keeps running without the one that was taken; skypilot#825.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..duties import job_nodes, on_spot
from ..rule import Found, rule


@rule("IAC251", "spot-across-nodes", "warning", lab="info")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, job in blueprint.training.items():
        nodes = job_nodes(blueprint, job)
        if nodes > 1 and job.checkpoint and on_spot(blueprint, job.nodes):
            message = f"the job stops on {nodes} machines whenever one of them is taken back"
            yield Found(message, ("training", name, "count" if job.count else "nodes"), (Related(("nodes", job.nodes, "capacity"), "how they are bought"),))
