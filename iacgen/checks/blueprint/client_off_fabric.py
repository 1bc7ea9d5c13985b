"""A client of a Lustre file system that is not on the fabric that carries it.

Why: Lustre is mounted over that fabric. A host without a port on it has no address there: its mount fails at every boot, and what is
started from that folder is not found.

Bad::

    fabrics:
      storage: {site: hall, purpose: storage, connects: [gpu, oss, mds], technology: infiniband, switch: qm9700, manager: {kind: opensm, pool: mds}}
    storage:
      scratch: {kind: lustre, servers: oss, metadata: mds, fabric: storage, clients: [gpu, login], mount: /scratch}

Good: ``connects: [gpu, oss, mds, login]``; the order is the address plan, so append.

Source: az-hop#448, Lustre defined and not mounted on the nodes.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..duties import lustres
from ..rule import Found, rule


@rule("IAC292", "client-off-fabric")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, store in lustres(blueprint).items():
        for i, pool in enumerate(store.clients or ()):
            if pool not in blueprint.fabrics[store.fabric].connects:
                related = (Related(("fabrics", store.fabric, "connects"), f"does not connect {pool}"),)
                yield Found(f"{pool} is not on the fabric {store.fabric} and cannot mount {name}", ("storage", name, "clients", i), related)
