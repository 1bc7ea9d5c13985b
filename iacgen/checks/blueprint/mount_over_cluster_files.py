"""A mount over the cluster's own files.

Why: in the cloud every machine keeps its scripts, Slurm's files and the list of mounts in /opt/cluster. A file system mounted over it
hides them: the boot stops half way, and later changes reach nobody.

Bad::

    storage:
      fsx: {kind: fsx-lustre, site: ohio, capacity: 48000GiB, mount: /opt}

Good: ``mount: /fsx``.

Source: aws-parallelcluster's validator for mount directories, which keeps its own folders.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from ...blueprint import Blueprint
from ...blueprint.storage import FsxLustre
from ..rule import Found, rule

OURS = PurePosixPath("/opt/cluster")


@rule("IAC279", "mount-over-cluster-files")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, store in blueprint.storage.items():
        if isinstance(store, FsxLustre):
            mount = PurePosixPath(store.mount)
            if mount == OURS or mount in OURS.parents or OURS in mount.parents:
                yield Found(f"{mount} hides {OURS}, where machines keep the cluster's files", ("storage", name, "mount"))
