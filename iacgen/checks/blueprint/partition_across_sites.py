"""A partition whose nodes stand at several sites, one of them in a cloud.

Why: a cloud site gets a network of its own, and no file joins it with a hall or with another zone. Slurm gives a job any free nodes of
a partition, so a job would start in the hall and in the cloud at once, with no route between its halves; EFA does not leave its zone
anyhow. Without partitions of your own, one named ``train`` takes the GPU pools of all sites.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 16}
      burst: {site: ohio, system: p5.48xlarge, count: 4}
    scheduler:
      partitions: {train: {nodes: [gpu, burst]}}

Good: a partition for each site::

    scheduler:
      partitions: {train: {nodes: [gpu], default: true}, burst: {nodes: [burst]}}

Source: Amazon EC2 User Guide, Elastic Fabric Adapter: EFA traffic is not routed out of its subnet's zone; aws-parallelcluster's
validator that a queue with EFA lies in one zone.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..duties import across_sites, queues
from ..rule import Found, rule


@rule("IAC295", "partition-across-sites")
def check(blueprint: Blueprint) -> Iterator[Found]:
    given = blueprint.scheduler is not None and blueprint.scheduler.partitions is not None
    for name, pools in queues(blueprint).items():
        if across_sites(blueprint, pools):
            path = ("scheduler", "partitions", name, "nodes") if given else ("scheduler",)
            stand = " and ".join(f"{pool} at {blueprint.nodes[pool].site}" for pool in dict.fromkeys(pools))
            help = None if given else "name the partitions, one for each site"
            related = tuple(Related(("nodes", pool, "site"), f"{pool} stands here") for pool in dict.fromkeys(pools))
            yield Found(f"partition {name} holds {stand}, and nothing joins their networks", path, related, help=help, on_key=True)
