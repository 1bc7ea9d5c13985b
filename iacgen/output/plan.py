"""What writing a tree into a folder would do, as a value. Nothing is written here."""

from __future__ import annotations

import os
from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path

from . import manifest as manifests
from .disk import BlockedPath, InvalidPath, checked, digest, executable, is_executable, kind_of, sha256
from .manifest import Manifest

Tree = dict[str, str]


@dataclass(frozen=True)
class Plan:
    """The difference between a tree and a folder, as sorted paths.

    ``edited`` are our files that were changed by hand and that the tree would overwrite or drop; ``foreign`` are paths of the
    tree where something stands that iacgen did not write, or behind a symbolic link. ``stale`` says that the manifest on disk
    is not that of the tree.
    """

    tree: Tree
    before: Manifest
    create: tuple[str, ...]
    update: tuple[str, ...]
    delete: tuple[str, ...]
    unchanged: tuple[str, ...]
    edited: tuple[str, ...]
    foreign: tuple[str, ...]
    stale: bool

    @property
    def clean(self) -> bool:
        """The folder is what the tree says: nothing to write, to delete or to refuse."""
        return not (self.create or self.update or self.delete or self.edited or self.foreign or self.stale)


def plan(tree: Tree, folder: Path) -> Plan:
    """Compare ``tree`` with what stands in ``folder``, which need not exist.

    A file that already has its new content is unchanged whoever wrote it, so an interrupted run is simply run again.
    Raises InvalidPath for a path that no tree may hold, ManifestError, and BlockedPath where the manifest is behind a link.
    """
    _check(tree)
    found = manifests.load(folder)
    before = found or Manifest()
    leaving = before.paths - tree.keys()
    fates = {path: _fate(folder, path, tree[path].encode(), before, leaving) for path in tree}
    fates |= {path: _fate_of_leaving(folder, path, before) for path in leaving}
    groups = {name: tuple(sorted(path for path, fate in fates.items() if fate == name)) for name in ("create", "update", "delete", "unchanged", "edited", "foreign")}
    return Plan(tree, before, **groups, stale=found != manifests.of(tree))


def _check(tree: Tree) -> None:
    taken = {checked(path) for path in tree} | {manifests.PATH}
    if manifests.PATH in tree:
        raise InvalidPath(f"{manifests.PATH} is the manifest's own")
    for path in taken:
        for parent in _parents(path):
            if parent in taken:
                raise InvalidPath(f"{parent} is a file and the folder of {path}")


def _fate(folder: Path, path: str, text: bytes, before: Manifest, leaving: Set[str]) -> str:
    try:
        standing = digest(folder, path)
    except BlockedPath:
        return "create" if _makes_way(folder, path, leaving) else "foreign"
    if standing is None:
        return "create"
    if standing == sha256(text):
        return "unchanged" if is_executable(folder, path) or not executable(path) else "update"
    if before.wrote(path, standing):
        return "update"
    return "edited" if path in before.paths else "foreign"


def _fate_of_leaving(folder: Path, path: str, before: Manifest) -> str | None:
    """What becomes of a file that the tree no longer has. One that a link or folder replaced is no longer ours."""
    try:
        standing = digest(folder, path)
    except BlockedPath:
        return None
    if standing is None:
        return None
    return "delete" if before.wrote(path, standing) else "edited"


def _makes_way(folder: Path, path: str, leaving: Set[str]) -> bool:
    """Whether what blocks ``path`` is empty but for files that this plan deletes: a file turned folder, or the reverse."""
    for place in [*_parents(path), path]:
        kind = kind_of(folder / place)
        if kind == "file":
            return place in leaving
        if kind != "folder":
            return False
    for below, folders, files in os.walk(folder / path):
        inside = Path(below).relative_to(folder)
        if any((inside / name).as_posix() not in leaving for name in files):
            return False
        if any(kind_of(Path(below) / name) != "folder" for name in folders):
            return False
    return True


def _parents(path: str) -> list[str]:
    """The folders above ``path``, outermost first."""
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts))]
