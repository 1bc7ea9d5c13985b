"""A Lustre file system called ``lustre``.

Why: that is the name that mkfs.lustre takes when none is given. A target that was formatted without a name, by hand or by another
tool, then belongs to this file system as far as anyone can see.

Bad::

    storage:
      lustre: {kind: lustre, mount: /lustre}

Good: ``fsname: scratch``.

Source: mkfs.lustre(8), --fsname.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..duties import lustres
from ..rule import Found, rule


@rule("IAC263", "lustre-named-lustre", "warning")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, store in lustres(blueprint).items():
        if (store.fsname or name) == "lustre":
            message = "'lustre' is what Lustre calls a file system that was given no name"
            yield Found(message, ("storage", name, "fsname") if store.fsname else ("storage", name), help="set fsname", on_key=not store.fsname)
