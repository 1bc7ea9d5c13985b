"""A Lustre file system that no host can mount.

Why: its fabric connects its own servers alone, or nothing else that mounts it. The servers are built, formatted and paid for, and nobody sees a file.

Bad::

    fabrics:
      storage: {site: hall, purpose: storage, connects: [oss, mds], technology: infiniband, switch: qm9700, manager: {kind: opensm, pool: mds}}

Good: ``connects: [oss, mds, gpu]``, or ``clients: [worker]`` for machines that no job runs on.

Source: az-hop#448.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..duties import clients, has_gpus, lustre_servers, lustres
from ..rule import Found, rule


@rule("IAC270", "nobody-mounts", "warning")
def check(blueprint: Blueprint) -> Iterator[Found]:
    servers = lustre_servers(blueprint)
    for name, store in lustres(blueprint).items():
        others = any(pool.site == store.site and has_gpus(blueprint, other) for other, pool in blueprint.nodes.items() if other not in servers)
        if store.clients == ():
            yield Found("it has no clients", ("storage", name, "clients"))
        elif not clients(blueprint, store) and not others:  # GPU nodes that are left out are a finding of their own
            yield Found(f"the fabric {store.fabric} connects no pool that jobs run on", ("storage", name, "fabric"))
