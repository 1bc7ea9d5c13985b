"""Nodes that no job of the blueprint uses.

Why: the jobs are what the cluster is built for. Nodes beyond the largest job and the spares are either meant for others, or a figure
is wrong.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 128}
    training:
      pretrain: {nodes: gpu, count: 32}

Good: ``count: 33`` with a spare, or a job that takes them.

Source: the sum of the blueprint's own figures.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject

SHARE = 0.25  # of the free nodes


@rule("IAC543", "nodes-without-job", "info", lab=None)
def check(subject: Subject) -> Iterator[Found]:
    largest: dict[str, int] = {}
    for name, job in subject.jobs.items():
        pool = subject.blueprint.training[name].nodes
        largest[pool] = max(largest.get(pool, 0), job.spec.nodes)
    for name, nodes in largest.items():
        pool = subject.design.pools[name]
        if pool.free - nodes > SHARE * pool.free:
            yield Found(f"the largest job takes {nodes} of {pool.free} free nodes", ("nodes", name, "count"))
