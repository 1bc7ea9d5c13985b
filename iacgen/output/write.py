"""Carry out a plan.

Each file is replaced whole, and the manifest says beforehand what is coming: a run that is cut off anywhere leaves a folder in
which every file is known as ours, old or new, and the next run finishes it.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from . import manifest as manifests
from .disk import BlockedPath, OutputError, digest, kind_of, remove, remove_empty, replace, temporary_of
from .manifest import Manifest
from .plan import Plan, plan


class WriteRefused(OutputError):
    """Nothing was written: the plan would lose somebody's work.

    ``edited`` and ``foreign`` are those of the plan; both are empty when the folder has changed since it was planned.
    """

    def __init__(self, edited: tuple[str, ...] = (), foreign: tuple[str, ...] = ()) -> None:
        self.edited, self.foreign = edited, foreign
        reasons = [f"{path} was edited by hand (--force overwrites it)" for path in edited]
        reasons += [f"{path} is in the way and not iacgen's" for path in foreign]
        super().__init__("nothing was written: " + ("; ".join(reasons) or "the folder has changed since it was planned"))


def apply(planned: Plan, folder: Path, *, force: bool = False) -> None:
    """Make ``folder`` hold the plan's tree.

    Raises WriteRefused, with nothing written, where files of the plan were edited by hand (unless ``force``) or where something
    foreign stands in the way (always); OSError where the disk refuses.
    """
    refused = () if force else planned.edited
    if refused or planned.foreign:
        raise WriteRefused(refused, planned.foreign)
    if plan(planned.tree, folder) != planned:
        raise WriteRefused()
    if planned.clean:
        return
    after = manifests.of(planned.tree)
    _announce(planned, folder, after)
    for path in (*planned.delete, *planned.edited):
        if path not in planned.tree:
            remove(folder, path)
    for path in sorted({*planned.create, *planned.update, *planned.edited} & planned.tree.keys()):
        if kind_of(folder / path) == "folder":
            remove_empty(folder / path)
        replace(folder, path, planned.tree[path].encode())
    manifests.store(folder, after)


def _announce(planned: Plan, folder: Path, after: Manifest) -> None:
    """Write down what is about to change, and clear what an earlier run left behind."""
    standing: dict[str, str] = {}
    for path in sorted(planned.before.paths):
        with contextlib.suppress(BlockedPath):
            found = digest(folder, path)
            temporary_of(folder / path).unlink(missing_ok=True)
            if found is None:
                remove(folder, path)  # its folder may be all that an earlier run came to
            else:
                ours = found if planned.before.wrote(path, found) else planned.before.files.get(path)
                standing |= {path: ours or planned.before.pending[path]}
    manifests.store(folder, Manifest(standing, after.files))
