"""A file system mounted over a part of the operating system.

Why: the mount hides what is there. Over /usr or /etc the node does not boot again; over /tmp or /run services lose their sockets.

Bad::

    storage:
      scratch: {kind: lustre, mount: /usr/local}

Good::

    storage:
      scratch: {kind: lustre, mount: /scratch}

Source: aws-parallelcluster's validator for mount directories (reserved base directories).
"""

from __future__ import annotations

from collections.abc import Iterator

from pathlib import PurePosixPath

from ...blueprint import Blueprint
from ..rule import Found, rule

RESERVED = {"bin", "boot", "dev", "etc", "lib", "lib64", "proc", "root", "run", "sbin", "sys", "tmp", "usr", "var"}


@rule("IAC218", "reserved-mount")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, store in blueprint.storage.items():
        mount = getattr(store, "mount", None)
        if mount and PurePosixPath(mount).parts[1] in RESERVED:
            yield Found(f"{mount} would hide a part of the operating system", ("storage", name, "mount"))
