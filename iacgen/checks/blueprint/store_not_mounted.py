"""A checkpoint into a store that the job's nodes do not mount.

Why: the launch files write below the mount point. A bucket has none, and a file system at another site is not there; the first
checkpoint then fills the root disk of rank 0.

Bad::

    storage:
      bucket: {kind: s3, site: ohio}
    training:
      pretrain: {checkpoint: {to: bucket}}

Good: ``to: fsx``, with ``exports_to: bucket`` on the file system.

Source: az-hop#448, Lustre defined and not mounted where jobs run.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..rule import Found, rule


@rule("IAC227", "store-not-mounted")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, job in blueprint.training.items():
        if not job.checkpoint:
            continue
        store, site, path = blueprint.storage[job.checkpoint.to], blueprint.nodes[job.nodes].site, ("training", name, "checkpoint", "to")
        if not hasattr(store, "mount"):
            yield Found(f"a checkpoint is written to a mounted file system; {job.checkpoint.to} is {store.kind}", path, (Related(("storage", job.checkpoint.to, "kind"), "what it is"),))
        elif store.site != site:
            related = (Related(("storage", job.checkpoint.to, "site"), "where it stands"), Related(("nodes", job.nodes, "site"), "where the job runs"))
            yield Found(f"{job.checkpoint.to} stands at {store.site}, the job runs at {site}", path, related)
