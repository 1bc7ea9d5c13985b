"""More nodes than one slurmctld can name.

Why: Slurm counts nodes of a cluster in a table of 65,536; beyond it slurmctld does not start. Several clusters under one
federation carry more.

Bad::

    nodes:
      gpu: {site: hall, system: hgx-h100, count: 65535, width: 5}
      more: {site: hall, system: hgx-h100, count: 8}

Good: two clusters of half the size.

Source: slurm.conf(5), MaxNodeCount; measured on 22.05.8: "Too many hosts in range" at 70,000 nodes.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..duties import queued
from ..rule import Found, rule
from ..subject import Subject

MOST = 65_536


@rule("IAC509", "beyond-slurm-nodes")
def check(subject: Subject) -> Iterator[Found]:
    pools = subject.blueprint.nodes
    names = sorted(queued(subject.blueprint))
    nodes = sum(pools[name].count for name in names)
    if nodes > MOST:
        largest = max(names, key=lambda name: pools[name].count)
        yield Found(f"{nodes:,} nodes in queues; Slurm takes {MOST:,}", ("nodes", largest, "count"))
