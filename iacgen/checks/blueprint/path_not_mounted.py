"""A script or data set on a file system that the job's nodes do not mount.

Why: the path lies below the mount of a file system at another site, or of one that these nodes are no clients of. Every rank ends with
a file that is not there.

Bad::

    storage:
      scratch: {kind: lustre, site: hall-a, mount: /scratch}
    training:
      pretrain: {nodes: gpu-of-hall-b, data: /scratch/corpus}

Good: data on a file system of hall-b.

Source: az-hop#448, Lustre defined and not mounted where jobs run.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..duties import mounts
from ..rule import Found, rule


@rule("IAC281", "path-not-mounted")
def check(blueprint: Blueprint) -> Iterator[Found]:
    below = {name: PurePosixPath(store.mount) for name, store in blueprint.storage.items() if hasattr(store, "mount")}
    for name, job in blueprint.training.items():
        here = set(mounts(blueprint, job.nodes))
        for field in ("script", "data"):
            if path := getattr(job, field):
                stores = [store for store, mount in below.items() if mount in PurePosixPath(path).parents or str(mount) == path]
                told = job.checkpoint and job.checkpoint.to in stores  # the checkpoint's finding says it
                if stores and not here & set(stores) and not told:
                    yield Found(f"{path} lies on storage.{stores[0]}, which {job.nodes} does not mount", ("training", name, field), (Related(("storage", stores[0], "mount"), "where it lies"), Related(("training", name, "nodes"), "where the job runs")))
