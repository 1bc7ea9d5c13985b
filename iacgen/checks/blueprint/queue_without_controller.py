"""A partition whose nodes stand where no controller is, with a cloud between them.

Why: nodes in the cloud take their files and their key from a head node of their own site, and their names resolve there alone. Nodes
elsewhere stay unknown to the controller until somebody joins the two by hand: jobs that are given them do not start.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 8}
      burst: {site: ohio, system: p5.48xlarge, count: 8}
      ctl: {site: hall, system: generic-1u, count: 2}
    scheduler:
      controllers: ctl
      partitions: {train: {nodes: [gpu], default: true}, burst: {nodes: [burst]}}

Good: partitions over the pools of one site, and a cluster of its own for the other.

Source: aws-parallelcluster and slurm-gcp put a controller into each cloud cluster; slurmctld accepts nodes that never come without
a word (Slurm 22.05 to 26.05, measured).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..duties import across_sites, far_from_controllers, queues
from ..rule import Found, rule


@rule("IAC262", "queue-without-controller", "warning")
def check(blueprint: Blueprint) -> Iterator[Found]:
    if not blueprint.scheduler:
        return
    home, given = blueprint.nodes[blueprint.scheduler.controllers].site, blueprint.scheduler.partitions is not None
    for name, pools in queues(blueprint).items():
        if across_sites(blueprint, pools):
            continue  # that is the larger fault
        for i, pool in enumerate(pools):
            if far_from_controllers(blueprint, pool):
                path = ("scheduler", "partitions", name, "nodes", i) if given else ("nodes", pool, "site")
                message = f"{pool} stands at {blueprint.nodes[pool].site} and the controllers at {home}: its nodes join no queue"
                there = () if not given else (Related(("nodes", pool, "site"), "where it stands"),)
                related = (*there, Related(("nodes", blueprint.scheduler.controllers, "site"), "where the controllers stand"))
                yield Found(message, path, related, help=None if given else f"name the partitions, over pools at {home}")
