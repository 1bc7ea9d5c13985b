"""OLD and NEW of ``iacgen review``: files, folders, trees or Git revisions, as pairs of blueprints of one name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .exit import cannot
from .read import contents, formerly

_CLUSTER = re.compile(rb"^[\"']?kind[\"']?\s*:\s*[\"']?Cluster\b", re.MULTILINE)
_RESOLVED = ".iacgen/resolved.yaml"


@dataclass(frozen=True)
class Text:
    """One blueprint: its bytes, its name in messages, and how many times larger than one that a person writes it may be."""

    raw: bytes
    name: str
    room: int = 1


@dataclass(frozen=True)
class Place:
    """What OLD or NEW names: a path on disk, or a commit with a path in it (empty: the whole folder)."""

    path: str
    commit: str | None = None
    word: str = ""


def pairs(old: str, new: str) -> list[tuple[str, Text | None, Text | None]]:
    """(name, old text, new text) of every blueprint on either side; leaves with 2 where one cannot be read.

    Two single files are one pair, whatever they are called. A revision beside a file or folder means that file or folder at the revision.
    """
    places = [_place(old), _place(new)]
    for i, j in ((0, 1), (1, 0)):
        if places[i].commit and not places[i].path and not places[j].commit:
            places[i] = Place(_inside(places[j].path), places[i].commit, places[i].word)
    same = _same(*places)
    before, after = (_texts(place, same) for place in places)
    if isinstance(before, Text) and isinstance(after, Text):
        return [(after.name, before, after)]
    if isinstance(before, Text) or isinstance(after, Text):
        if not (before and after):  # a file that one of the two revisions does not have
            single = before or after
            assert isinstance(single, Text)
            return [(single.name, before or None, after or None)]  # type: ignore[list-item]
        cannot(f"{old} and {new} are a file and a folder: review takes two of a kind")
    names = sorted(before.keys() | after.keys())
    return [(name, before.get(name), after.get(name)) for name in names if _differ(before.get(name), after.get(name))]


def _differ(old: Text | None, new: Text | None) -> bool:
    return old is None or new is None or old.raw != new.raw


def _place(word: str) -> Place:
    from ..output import git

    if Path(word).exists():
        return Place(word)
    here = Path.cwd()
    if commit := git.revision(word, here):
        return Place("", commit, word)
    before, colon, path = word.partition(":")
    if colon and (commit := git.revision(before, here)):
        return Place(_inside(path), commit, before)
    cannot(f"{word} is no file, no folder and no revision of a Git repository")


def _inside(path: str) -> str:
    """The path from the current folder, as Git takes it; leaves with 2 where it leads out."""
    whole = Path(path)
    if whole.is_absolute():
        if not whole.is_relative_to(Path.cwd()):
            cannot(f"{path} is not below the current folder, so no revision has it under that name")
        whole = whole.relative_to(Path.cwd())
    if ".." in whole.parts:
        cannot(f"{path} leads out of the current folder")
    return whole.as_posix().removeprefix("./")


def _same(old: Place, new: Place) -> frozenset[str]:
    """Files that two commits have with the same content: a large repository has many, and none of them is read."""
    from ..output import OutputError, git

    if not (old.commit and new.commit) or old.path != new.path:
        return frozenset()
    try:
        return frozenset(path for path, _ in git.listing(old.commit, Path.cwd()).items() & git.listing(new.commit, Path.cwd()).items())
    except OutputError as error:
        cannot(str(error))


def _texts(place: Place, same: frozenset[str]) -> Text | Mapping[str, Text]:
    return _of_commit(place, same) if place.commit else _of_disk(Path(place.path))


def _of_disk(path: Path) -> Text | Mapping[str, Text]:
    try:
        if not path.is_dir():
            return Text(*contents(path))
        if (path / _RESOLVED).is_file():
            return Text(formerly(path / _RESOLVED), str(path), 8)
        files = sorted(p for p in path.rglob("*") if p.suffix in (".yaml", ".yml") and p.is_file() and not p.is_symlink() and not {"node_modules", ".git"} & set(p.parts))
        return {p.relative_to(path).as_posix(): Text(*read) for p in files if _CLUSTER.search((read := contents(p))[0]) and not _generated(p.relative_to(path).as_posix())}
    except OSError as error:
        cannot(f"cannot read {error.filename or path}: {error.strerror}")


def _of_commit(place: Place, same: frozenset[str]) -> Text | Mapping[str, Text]:
    from ..output import OutputError, git
    from ..source import MAX_BYTES

    assert place.commit
    here = Path.cwd()
    try:
        if place.path and (raw := git.content(place.commit, place.path, here, MAX_BYTES)) is not None:
            return Text(raw, place.path)
        if place.path and (raw := git.content(place.commit, f"{place.path}/{_RESOLVED}", here, 8 * MAX_BYTES)) is not None:
            return Text(raw, place.path, 8)
        prefix = f"{place.path.rstrip('/')}/" if place.path and place.path != "." else ""
        found = [p for p in git.listing(place.commit, here) if p not in same and p.startswith(prefix) and p.endswith((".yaml", ".yml")) and not _generated(p)]
        read = {p: git.content(place.commit, p, here, MAX_BYTES) for p in found}
        return {p.removeprefix(prefix): Text(raw, p) for p, raw in read.items() if raw is not None and _CLUSTER.search(raw)}
    except OutputError as error:
        cannot(str(error))


def _generated(path: str) -> bool:
    """A resolved blueprint of a tree is no blueprint that somebody writes."""
    return f"/{path}".endswith(f"/{_RESOLVED}")
