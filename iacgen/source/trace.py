"""Findings about values that came in through an alias or a merge: where they were let in, and each of them once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..diagnostics import Diagnostic, Related, Span
from .document import Document, Path
from .walk import MERGE


def traced(document: Document, findings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The findings with a note at each merge or alias on the way; one mistake that several aliases repeat is one finding."""
    if not document.routes:
        return tuple(findings)
    out: dict[tuple[str, Span, str], Diagnostic] = {}
    for finding in findings:
        noted = replace(finding, related=(*finding.related, *_notes(document, finding.path)))
        key = (finding.id, document.place(finding), finding.message)
        first = out.setdefault(key, noted)
        if first is not noted:
            out[key] = replace(first, related=tuple(dict.fromkeys((*first.related, *noted.related))))
    return tuple(out.values())


def _notes(document: Document, path: Path) -> Iterable[Related]:
    for length in range(len(path), 0, -1):
        route = document.routes.get(path[:length])
        if route:
            yield Related(route, "merged in here" if route[-1] == MERGE else "used here, through an alias")
