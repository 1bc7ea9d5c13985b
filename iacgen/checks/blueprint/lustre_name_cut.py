"""A file system whose name is cut to eight characters.

Why: Lustre's own names have eight characters at most. Without ``fsname`` the first eight of the section's name are taken; mounts,
labels and logs then show a name that nobody wrote, and it cannot be changed once the targets are formatted.

Bad::

    storage:
      checkpoints: {kind: lustre, mount: /checkpoints}

Good: ``fsname: ckpt``.

Source: cluster-toolkit PR#476 and #489, names cut to eight characters that collide later; mkfs.lustre(8).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...blueprint.storage import lustre_name
from ..duties import lustres
from ..rule import Found, rule


@rule("IAC264", "lustre-name-cut", "warning")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, store in lustres(blueprint).items():
        if store.fsname is None and len(name) > 8:
            yield Found(f"Lustre will call it {lustre_name(name, store)!r}", ("storage", name), help="set fsname, 8 characters at most", on_key=True)
