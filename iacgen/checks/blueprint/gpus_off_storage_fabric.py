"""GPU nodes that cannot mount a Lustre file system of their hall.

Why: Lustre is mounted over its fabric, and these nodes have no port there. Jobs that are given them find no data, while those on
other nodes do.

Bad::

    fabrics:
      storage: {site: hall, purpose: storage, connects: [gpu, oss, mds], technology: infiniband, switch: qm9700, manager: {kind: opensm, pool: mds}}
    nodes:
      gpu: {site: hall, system: dgx-h100, count: 32}
      gpu-b: {site: hall, system: dgx-h100, count: 32}

Good: ``connects: [gpu, oss, mds, gpu-b]``; the order is the address plan, so append.

Source: az-hop#448, Lustre defined and not mounted on the nodes.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..duties import has_gpus, lustre_servers, lustres
from ..rule import Found, rule


@rule("IAC269", "gpus-off-storage-fabric", "warning", lab="info")
def check(blueprint: Blueprint) -> Iterator[Found]:
    servers = lustre_servers(blueprint)
    told = {(job.checkpoint.to, job.nodes) for job in blueprint.training.values() if job.checkpoint}
    for name, store in lustres(blueprint).items():
        for pool in blueprint.nodes:
            here = blueprint.nodes[pool].site == store.site and pool not in servers and has_gpus(blueprint, pool)
            if here and pool not in blueprint.fabrics[store.fabric].connects and (name, pool) not in told:
                yield Found(f"{pool} is not on it and cannot mount storage.{name}", ("fabrics", store.fabric, "connects"), (Related(("nodes", pool), "not on it"),), on_key=True)
