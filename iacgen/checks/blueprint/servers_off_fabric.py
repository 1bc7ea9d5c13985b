"""Lustre servers that are not on the fabric that carries the file system.

Why: clients mount by an address on that fabric. A server without a port there has none, so the mount never comes up.

Bad::

    fabrics:
      storage: {site: hall, purpose: storage, connects: [gpu, mds], technology: infiniband, switch: qm9700, manager: {kind: opensm, pool: mds}}
    storage:
      scratch: {kind: lustre, servers: oss, metadata: mds, fabric: storage}

Good: ``connects: [gpu, oss, mds]``.

Source: az-hop#448, a Lustre file system that was defined and not reachable from the nodes that needed it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...blueprint.storage import Lustre
from ...diagnostics import Related
from ..rule import Found, rule


@rule("IAC229", "servers-off-fabric")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, store in blueprint.storage.items():
        if isinstance(store, Lustre):
            connects = blueprint.fabrics[store.fabric].connects
            for field, pool in (("servers", store.servers), ("metadata", store.metadata)):
                if pool not in connects:
                    yield Found(f"{pool} is not on the fabric {store.fabric} that carries the file system", ("storage", name, field), (Related(("fabrics", store.fabric, "connects"), f"does not connect {pool}"),))
