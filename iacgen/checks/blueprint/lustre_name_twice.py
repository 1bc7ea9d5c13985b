"""Two file systems that Lustre knows by one name.

Why: Lustre names its targets ``<fsname>-OST0000``. Two file systems of one name on one management server are one file system,
and formatting the second destroys the first.

Bad::

    storage:
      scratch-a: {kind: lustre, fsname: scratch}
      scratch-b: {kind: lustre, fsname: scratch}

Good: ``fsname: scra`` and ``fsname: scrb``.

Source: mkfs.lustre(8), --fsname. Without ``fsname`` the first eight characters of the section's name are taken
(cluster-toolkit PR#476: names cut to eight characters collide).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...blueprint.storage import Lustre, lustre_name
from ...diagnostics import Related
from ..rule import Found, rule


@rule("IAC220", "lustre-name-twice")
def check(blueprint: Blueprint) -> Iterator[Found]:
    names: dict[str, str] = {}
    for name, store in blueprint.storage.items():
        if isinstance(store, Lustre):
            fsname = lustre_name(name, store)
            if (first := names.setdefault(fsname, name)) != name:
                yield Found(f"both this and storage.{first} are called {fsname!r} by Lustre", ("storage", name), (Related(("storage", first), "the other one"),), help="set fsname", on_key=True)
