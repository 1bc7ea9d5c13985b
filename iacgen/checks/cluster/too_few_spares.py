"""Fewer spare nodes than the availability of a job asks for.

Why: a job that has lost a node waits until one is free. How often nodes fail and how long they are in repair says how many are missing at
a time, and so how many must stand by.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 127, spares: 1}
    training:
      pretrain: {nodes: gpu, count: 126, failures: {availability: 0.99}}    # at 4 failures for 1,000 node-days it takes three

Good: ``count: 124``, or ``repair: 4h`` where nodes are back that soon.

Source: binomial distribution of the nodes in repair; rates of arXiv:2407.21783 and arXiv:2410.21680. BLOOM-176B ran on 48 nodes with
four spare ones (bigscience, tr11 chronicles).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...diagnostics import Related
from ...training.failures import chance_of_enough
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC571", "too-few-spares", "warning", lab=None)
def check(subject: Subject) -> Iterator[Found]:
    for name, job in subject.jobs.items():
        pool, found = subject.design.pools[subject.blueprint.training[name].nodes], job.reliability
        have = pool.count - len(pool.down) - job.spec.nodes
        if job.spec.failures.availability is None or (found.spares is not None and have >= found.spares):
            continue
        enough = chance_of_enough(job.spec.nodes, have, job.spec.failures.down_share)
        wanted = f"it takes {found.spares}" if found.spares is not None else f"more than {job.spec.nodes} would be needed"
        related = (Related(("nodes", pool.name, "count"), f"{have} beside the {job.spec.nodes} of the job"),)
        yield Found(f"with {have} spare nodes all are up for {enough:.1%} of the time; {wanted}", ("training", name, "failures", "availability"), related, help="take fewer nodes, or have failed ones back sooner (failures.repair)")
