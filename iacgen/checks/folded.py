"""One name that is missing is one mistake, however many places ask for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ..diagnostics import Diagnostic, Related, Span

_SHOWN = 20  # further places; a misspelt pool may be asked for everywhere


def folded(findings: Iterable[Diagnostic], place: Callable[[Diagnostic], Span]) -> tuple[Diagnostic, ...]:
    """The findings with those about one missing name as one, at the first of its places in the file; the others are its notes."""
    groups: dict[object, list[Diagnostic]] = {}
    for i, finding in enumerate(findings):
        groups.setdefault(finding.message if finding.slug == "unknown-reference" else i, []).append(finding)
    return tuple(_one(group, place) for group in groups.values())


def _one(group: list[Diagnostic], place: Callable[[Diagnostic], Span]) -> Diagnostic:
    if len(group) == 1:
        return group[0]
    first, *others = sorted(group, key=lambda f: ((span := place(f)).name, span.line, span.column))
    notes = [note for f in others[:_SHOWN] for note in (Related(f.path, "asked for here too"), *f.related)]
    if more := len(others[_SHOWN:]):
        notes.append(Related(others[_SHOWN].path, f"and {more} more from here on"))
    return replace(first, related=(*first.related, *notes))
