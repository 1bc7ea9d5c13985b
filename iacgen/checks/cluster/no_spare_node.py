"""A large job on a pool without a node to spare.

Why: when a node fails, the job waits until it is repaired. With a spare it starts again at once.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 128}
    training:
      pretrain: {nodes: gpu}

Good: ``spares: 1`` for gpu, or a job that takes a node fewer.

Source: arXiv:2407.21783 and arXiv:2410.21680: 2.3 to 6.5 failures for 1,000 nodes and day.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...diagnostics import Related
from ..rule import Found, rule
from ..subject import Subject

MOST = 2 * 86400  # seconds between failures: 125 nodes; a judgement


@rule("IAC541", "no-spare-node", "warning", lab=None)
def check(subject: Subject) -> Iterator[Found]:
    for name, job in subject.jobs.items():
        pool = subject.design.pools[subject.blueprint.training[name].nodes]
        between = job.reliability.mttf_s
        if pool.system.cloud is None and between < MOST and pool.count - len(pool.down) == job.spec.nodes:
            yield Found(f"{name} takes all {job.spec.nodes} nodes, of which one fails every {between / 3600:.0f} hours or so", ("nodes", pool.name), (Related(("training", name, "count" if subject.blueprint.training[name].count else "nodes"), "the job"),), help="set spares", on_key=True)
