"""A job whose nodes do not mount its file system: they are not on the fabric that carries it, or not among its clients.

Why: Lustre is mounted over that fabric. Nodes without a port on it are no clients, so nothing is mounted, and checkpoints fill the
root disk of rank 0.

Bad::

    fabrics:
      storage: {site: hall, purpose: storage, connects: [oss, mds], technology: infiniband, switch: qm9700, manager: {kind: opensm, pool: mds}}
    storage:
      scratch: {kind: lustre, servers: oss, metadata: mds, fabric: storage, mount: /scratch}
    training:
      pretrain: {nodes: gpu, checkpoint: {to: scratch}}

Good: ``connects: [gpu, oss, mds]``.

Source: az-hop#448, Lustre defined and not mounted where jobs run.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..duties import lustres, mounts
from ..rule import Found, rule


@rule("IAC268", "job-off-storage-fabric")
def check(blueprint: Blueprint) -> Iterator[Found]:
    stores = lustres(blueprint)
    for name, job in blueprint.training.items():
        store = stores.get(job.checkpoint.to) if job.checkpoint else None
        if store and store.site == blueprint.nodes[job.nodes].site and job.checkpoint.to not in mounts(blueprint, job.nodes):
            to, path = job.checkpoint.to, ("training", name, "checkpoint", "to")
            if job.nodes not in blueprint.fabrics[store.fabric].connects:
                if job.nodes in (store.clients or ()):
                    continue  # a finding of its own
                related = (Related(("fabrics", store.fabric, "connects"), f"does not connect {job.nodes}"), Related(("training", name, "nodes"), "where the job runs"))
                yield Found(f"{job.nodes} is not on the fabric {store.fabric} and cannot mount {to}", path, related)
            else:
                related = (Related(("storage", to, "clients"), f"does not name {job.nodes}"), Related(("training", name, "nodes"), "where the job runs"))
                yield Found(f"{job.nodes} is not among the clients of {to} and does not mount it", path, related)
