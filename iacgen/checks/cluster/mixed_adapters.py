"""A partition whose GPU nodes have unequal numbers of adapters.

Why: a job may get some of each. NCCL uses as many channels as the poorest node has paths for, so the others' adapters stand idle, and
nothing says so.

Bad::

    nodes:
      gpu: {site: ohio, system: p5.48xlarge, count: 8}
      half: {site: ohio, system: p5.48xlarge, count: 8, efa: 16}
    scheduler:
      partitions: {train: {nodes: [gpu, half]}}

Good: a partition for each.

Source: aws-parallelcluster warns when the types of one compute resource differ in their network cards: the lowest number is used.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...diagnostics import Related
from ..duties import queues
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC550", "mixed-adapters", "warning")
def check(subject: Subject) -> Iterator[Found]:
    given = subject.blueprint.scheduler and subject.blueprint.scheduler.partitions is not None
    for name, pools in queues(subject.blueprint).items():
        counts, kinds = {}, set()
        for pool in (subject.design.pools[p] for p in pools):
            fabric = subject.design.fabric_of(pool.name, "compute")
            if pool.gpu and fabric:
                counts.setdefault((fabric.nics[pool.name].count, fabric.link_gbps[pool.name]), pool.name)
                kinds.add((pool.gpu.id, pool.site))
        if len(counts) > 1 and len(kinds) == 1:  # of other GPUs and other sites more is said
            path = ("scheduler", "partitions", name, "nodes") if given else ("scheduler",)
            message = f"partition {name} holds {' and '.join(f'{pool} with {ports} x {gbps} Gb/s' for (ports, gbps), pool in sorted(counts.items(), reverse=True))}"
            related = tuple(Related(("nodes", pool, "system"), f"{ports} x {gbps} Gb/s") for (ports, gbps), pool in sorted(counts.items(), reverse=True))
            yield Found(message, path, related, help=None if given else "name the partitions, one for each kind", on_key=True)
