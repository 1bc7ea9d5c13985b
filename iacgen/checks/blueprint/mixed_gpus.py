"""A partition with GPUs of two kinds.

Why: a job that only asks for nodes may get some of each. The faster ones wait for the slower, and a job that fits one GPU's memory
runs out on the other.

Bad::

    nodes:
      hopper: {site: hall, system: dgx-h100, count: 8}
      ampere: {site: hall, system: dgx-a100, count: 8}
    scheduler:
      partitions: {train: {nodes: [hopper, ampere]}}

Good: a partition for each.

Source: aws-parallelcluster#5880, a queue of two GPU types where only one can be asked for.
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import catalog
from ...blueprint import Blueprint
from ...diagnostics import Related
from ..duties import queues
from ..rule import Found, rule


@rule("IAC261", "mixed-gpus", "warning")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, pools in queues(blueprint).items():
        kinds = {gpu: pool for pool in reversed(pools) if (gpu := catalog.system(blueprint.nodes[pool].system).gpu)}
        if len(kinds) > 1:
            given = blueprint.scheduler and blueprint.scheduler.partitions is not None
            path = ("scheduler", "partitions", name, "nodes") if given else ("scheduler",)
            message = f"partition {name} holds {' and '.join(f'{gpu} ({pool})' for gpu, pool in sorted(kinds.items()))}"
            related = tuple(Related(("nodes", pool, "system"), gpu) for gpu, pool in sorted(kinds.items()))
            yield Found(message, path, related, help=None if given else "name the partitions, one for each kind", on_key=True)
