"""A job whose nodes are not on the fabric that carries its file system.

Why: Lustre is mounted over that fabric. Nodes without a port on it are no clients, so nothing is mounted, and checkpoints fill the
root disk of rank 0.

Bad::

    fabrics:
      storage: {site: hall, purpose: storage, connects: [oss, mds], technology: infiniband, switch: qm9700}
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
            related = (Related(("fabrics", store.fabric, "connects"), f"does not connect {job.nodes}"),)
            message = f"{job.nodes} is not on the fabric {store.fabric} and cannot mount {job.checkpoint.to}"
            yield Found(message, ("training", name, "checkpoint", "to"), related)
