"""Two file systems mounted at one place, or one inside the other.

Why: whichever is mounted last hides the other, and the order is not the same on every boot. Checkpoints then land where nobody
looks for them.

Bad::

    storage:
      scratch: {kind: lustre, mount: /data}
      archive: {kind: lustre, mount: /data/old}

Good: ``/data`` and ``/archive``.

Source: aws-parallelcluster's validators for duplicate and overlapping mount directories.
"""

from __future__ import annotations

from collections.abc import Iterator

from pathlib import PurePosixPath

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..rule import Found, rule


@rule("IAC219", "overlapping-mounts")
def check(blueprint: Blueprint) -> Iterator[Found]:
    seen: dict[str, PurePosixPath] = {}
    for name, store in blueprint.storage.items():
        if not hasattr(store, "mount"):
            continue
        mount = PurePosixPath(store.mount)
        for other, theirs in seen.items():
            if mount == theirs or mount in theirs.parents or theirs in mount.parents:
                yield Found(f"{mount} and {theirs} of storage.{other} lie in each other", ("storage", name, "mount"), (Related(("storage", other, "mount"), "the other one"),))
        seen[name] = mount
