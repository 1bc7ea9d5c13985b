"""What is left of a blueprint with mistakes: its entries that have none, so that they can be judged in the same run."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ..diagnostics import Diagnostic
from ..diagnostics.nearest import closest
from .cluster import Blueprint
from .language import Path, known
from .mistakes import at
from .parse import parse

MAPS = ("sites", "nodes", "fabrics", "storage", "models", "training")
_ROOT = {"kind": "Cluster", "schema": 1, "name": "unnamed"}
_ROUNDS = 4  # a key that is put right may hold further mistakes


@dataclass
class Rest:
    """The part that nothing is wrong with.

    ``gone`` are the names of the entries that were left out. ``unsure`` are paths of which nobody knows what they say, for a key in
    them is of no section: of an entry, or of the whole. ``renamed`` is the path of a key that was misspelt, as it was meant → the key as
    it is written; ``mended`` says the same of the section that holds it.
    """

    data: dict[str, Any]
    blueprint: Blueprint | None = None
    gone: set[str] = field(default_factory=set)
    unsure: set[Path] = field(default_factory=set)
    renamed: dict[Path, str | int] = field(default_factory=dict)
    mended: dict[tuple[int, str | int], str] = field(default_factory=dict)

    def written(self, path: Path) -> Path:
        """A path of the rest as the user wrote it."""
        return tuple(self.renamed.get(path[: i + 1], step) for i, step in enumerate(path))

    def mend(self, path: Path) -> None:
        """Read an unknown key as the one that it misspells; without such a one its entry says what it says, perhaps."""
        holder, key = at(self.data, path[:-1]), path[-1]
        if not isinstance(holder, dict):
            return
        if key in holder:
            words = known(path[:-1], holder)
            meant = closest(str(key), [word for word in words if word not in holder]) or closest(str(key), words)
            value = holder.pop(key)
            if meant and meant not in holder:
                holder[meant] = value
                self.mended[id(holder), key] = meant
            elif not meant or len(path) == 1:
                self.unsure.add(path[:-1][:2])
        if meant := self.mended.get((id(holder), key)):  # a section behind an alias is put right once and told at each place
            self.renamed[*path[:-1], meant] = key

    def drop(self, path: Path) -> None:
        """Leave out the entry that ``path`` is in, or the section where that has no entries."""
        section = path[0] if path else None
        if section in MAPS and len(path) > 1 and isinstance(self.data.get(str(section)), dict):
            self.data[str(section)].pop(path[1], None)
            self.gone.add(str(path[1]))
        elif section is not None:
            self.data.pop(str(section), None)
            if section in MAPS:  # names that are asked for may be in there
                self.unsure.add(())

    def leave_out(self, paths: Iterable[Path]) -> Rest:
        """Itself without the entries that these paths are in."""
        for path in paths:
            self.drop(path)
        self.blueprint, _ = parse({**_ROOT, **self.data})
        return self

    def without(self, wrong: Callable[[Blueprint], list[Path]]) -> Blueprint | None:
        """What is left without the entries that ``wrong`` points at, those that then refer to nothing, and those of which one is unsure."""
        if () in self.unsure:
            return None
        doubtful, left = [*self.unsure], self.blueprint
        for _ in range(_ROUNDS):
            doubtful += wrong(left) if left else []
            if not doubtful:
                return left
            while doubtful:
                self.drop(doubtful.pop())
            left, _ = parse({**_ROOT, **self.data})
        return None


def intact(data: Any, findings: Iterable[Diagnostic], unread: Iterable[Path] = ()) -> Rest:
    """The blueprint with its misspelt keys put right and without the entries that ``findings`` blame; of too little none.

    At the paths in ``unread`` nothing could be read.
    """
    rest = Rest(copy.deepcopy(data) if isinstance(data, dict) else {})
    left = list(findings)
    for path in unread:
        rest.drop(path)
    for _ in range(_ROUNDS if rest.data else 0):
        for path, unknown in {(f.path, f.slug == "unknown-key"): None for f in left}:
            if unknown:
                rest.mend(path)
            else:
                rest.drop(path)
        rest.blueprint, left = parse({**_ROOT, **rest.data})
        if not left:
            break
    return rest
