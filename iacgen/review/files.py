"""The files of two trees held against each other, and their differences as unified diffs of bounded length."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ..diagnostics.printable import printable

Kind = Literal["new", "removed", "changed"]
MOST_LINES = 2_000  # that differ: difflib takes quadratic time, and nobody reads more
_CONTEXT = 2
_BY_NAME = ("terraform", "ansible", "fabric", "training", "kubernetes")  # folders with one below for each site, fabric or job
_OURS = ".iacgen/"  # the resolved blueprint says again what the changes say


@dataclass(frozen=True)
class FileChange:
    """A file that differs; ``added`` and ``removed`` count lines that only one side has, moved ones among them left out."""

    path: str
    kind: Kind
    added: int
    removed: int

    @property
    def target(self) -> str:
        """What the file belongs to: the first folder, or the first two where sites, fabrics and jobs have one each."""
        parts = self.path.split("/")
        return "/".join(parts[: 2 if parts[0] in _BY_NAME and len(parts) > 2 else 1])


def files(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[FileChange, ...]:
    """Every file that is not the same in both trees, by its path, without those that are iacgen's own."""
    paths = sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path) and not path.startswith(_OURS))
    return tuple(_change(path, old.get(path), new.get(path)) for path in paths)


def _change(path: str, old: str | None, new: str | None) -> FileChange:
    before, after = Counter((old or "").splitlines()), Counter((new or "").splitlines())
    kind: Kind = "new" if old is None else "removed" if new is None else "changed"
    return FileChange(path, kind, (after - before).total(), (before - after).total())


def diff(change: FileChange, old: Mapping[str, str], new: Mapping[str, str], most: int) -> str:
    """The unified diff of a file, ``most`` lines of it; says what it leaves out. No line of it is obeyed by a terminal."""
    head = f"--- {change.path if change.kind != 'new' else '(none)'}\n+++ {change.path if change.kind != 'removed' else '(none)'}\n"
    before, after = old.get(change.path, "").splitlines(), new.get(change.path, "").splitlines()
    first = _shared(before, after)
    last = _shared(before[first:][::-1], after[first:][::-1])
    if max(len(before), len(after)) - first - last > MOST_LINES:
        return f"{head}@@ too many lines differ to show them: {change.added:,} more, {change.removed:,} less @@\n"
    start, end = max(0, first - _CONTEXT), max(0, last - _CONTEXT)
    body = [printable(line) for line in _body(before[start : len(before) - end], after[start : len(after) - end], start)]
    left = f"@@ {len(body) - most:,} more lines of this diff are not shown @@\n" if len(body) > most else ""
    return head + "".join(f"{line}\n" for line in body[:most]) + left


def _body(before: Sequence[str], after: Sequence[str], start: int) -> Iterator[str]:
    """The hunks, their line numbers counted from the begin of the file."""
    for group in difflib.SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(_CONTEXT):
        yield f"@@ -{start + group[0][1] + 1},{group[-1][2] - group[0][1]} +{start + group[0][3] + 1},{group[-1][4] - group[0][3]} @@"
        for tag, i, j, k, m in group:
            if tag == "equal":
                yield from (f" {line}" for line in before[i:j])
            else:
                yield from (f"-{line}" for line in before[i:j])
                yield from (f"+{line}" for line in after[k:m])


def _shared(a: Sequence[str], b: Sequence[str]) -> int:
    """How many of the first lines are the same."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
