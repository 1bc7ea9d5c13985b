"""A rate of failures that is far from all that is published.

Why: the interval between saves, the spare nodes and the time that is lost all follow from it. A rate for GPUs or for hours in the place of
one for nodes and days makes them wrong by a large factor.

Bad::

    training:
      pretrain: {nodes: gpu, failures: {per_1000_node_days: 0.16}}    # for 1,000 node-hours

Good: ``per_1000_node_days: 3.8``.

Source: arXiv:2407.21783: 3.79; arXiv:2410.21680: 2.34 and 6.50.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...training.failures import PUBLISHED_PER_1000_NODE_DAYS
from ..rule import Found, rule
from ..subject import Subject

FAR = 4  # times below the lowest or above the highest: nodes are not all of one age and kind; a judgement


@rule("IAC572", "failures-out-of-range", "info")
def check(subject: Subject) -> Iterator[Found]:
    low, high = PUBLISHED_PER_1000_NODE_DAYS
    for name, job in subject.jobs.items():
        rate = job.spec.failures.per_1000_node_days
        if not low / FAR <= rate <= high * FAR:
            yield Found(f"{rate:g} failures for 1,000 nodes and day; {low} to {high} are published", ("training", name, "failures", "per_1000_node_days"))
