"""What every printer of a review says: the headline, and its rows in the order in which they are read."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

from .build import Review
from .files import FileChange, diff
from .model import Consequence, Effect

Row = tuple[str, ...]
MOST_LINES = 400  # of the diffs of one target


def headline(review: Review) -> str:
    """The review in a sentence."""
    if review.old is None or review.new is None:
        return "A new blueprint." if review.old is None else "The blueprint goes: its files stay where they were generated, and nothing manages what they built."
    if not review.changed:
        return "The effective blueprint and every file are the same."
    if not review.changes:
        return "The effective blueprint is the same; what is written for it is not." if review.files else "The effective blueprint and every file are the same; its findings are not."
    counts = [(sum(c.effect is effect for c in review.consequences), effect.words) for effect in sorted(Effect, reverse=True)]
    said = ", ".join(f"{n} x {word}" for n, word in counts if n)
    n = len(review.changes)
    return f"{n} change{'s' * (n > 1)}: {said}." if said else f"{n} change{'s' * (n > 1)}."


def consequence_rows(review: Review) -> list[Consequence]:
    """Worst first, each once."""
    return sorted(dict.fromkeys(review.consequences), key=lambda c: (-c.effect, tuple(map(str, c.path)), c.source))


def finding_rows(review: Review) -> list[Row]:
    """(new or gone, severity, path, message); new errors are told as what generate refuses."""
    rows = [("new", f"{f.severity} {f.id} {f.slug}", ".".join(map(str, f.path)), f.message) for f in review.appeared if f.severity != "error"]
    return rows + [("gone", f"{f.severity} {f.id} {f.slug}", ".".join(map(str, f.path)), f.message) for f in review.gone]


def file_rows(review: Review) -> list[tuple[str, str, str]]:
    """(target, counts, diff) of each target that differs, by its name."""
    assert review.old and review.new
    out = []
    for target, group in groupby(sorted(review.files, key=lambda f: (f.target, f.path)), key=lambda f: f.target):
        files = list(group)
        added, removed = sum(f.added for f in files), sum(f.removed for f in files)
        summary = f"{len(files):,} file{'s' * (len(files) > 1)}, {added:,} lines more, {removed:,} less"
        out.append((target, summary, _diffs(files, review.old.tree, review.new.tree)))
    return out


def _diffs(files: list[FileChange], old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """The diffs of a target until they are long enough: nobody reads thousands, and each takes its time."""
    out, lines = "", 0
    for i, change in enumerate(files):
        if lines >= MOST_LINES:
            return f"{out}@@ {len(files) - i:,} more files of this target differ @@\n"
        text = diff(change, old, new, MOST_LINES - lines)
        out, lines = out + text, lines + text.count("\n")
    return out
