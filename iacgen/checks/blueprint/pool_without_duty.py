"""A pool that nothing uses.

Why: there is no scheduler, no job runs on it, and it serves neither a file system nor a fabric. Most often another pool's name was
meant somewhere.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 8}
      spare: {site: hall, system: generic-1u, count: 2}
    training:
      pretrain: {nodes: gpu}

Good: leave it out, or add the scheduler that gives it out.

Source: cluster-toolkit's validator test_module_not_used.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..duties import cache_servers, lustre_servers, managers
from ..rule import Found, rule


@rule("IAC259", "pool-without-duty", "info")
def check(blueprint: Blueprint) -> Iterator[Found]:
    if blueprint.scheduler or not blueprint.training:
        return
    used = lustre_servers(blueprint) | managers(blueprint) | cache_servers(blueprint) | {job.nodes for job in blueprint.training.values()}
    for name in blueprint.nodes:
        if name not in used:
            yield Found(f"nothing uses {name}", ("nodes", name), on_key=True)
