"""A file system mounted over /home.

Why: the mount hides the home directory that holds the operator's key, so that nobody can log in to mend what is wrong; and when the
file system hangs, so does every login.

Bad::

    storage:
      scratch: {kind: lustre, mount: /home}

Good: ``mount: /scratch``.

Source: aws-parallelcluster#284, a mount over /home that hides the key.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from ...blueprint import Blueprint
from ..rule import Found, rule


@rule("IAC257", "mount-over-home", "warning")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, store in blueprint.storage.items():
        mount = getattr(store, "mount", None)
        if mount and PurePosixPath(mount).parts[1] == "home":
            yield Found(f"{mount} hides home directories, and the keys in them", ("storage", name, "mount"))
