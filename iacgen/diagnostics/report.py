"""What all printers print: the findings of one file, each at its place, in the order of the file, none of them twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from .mask import Mask, masked_name, private_lines
from .model import BlueprintPath, Diagnostic, Severity, Span, lines

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


class DocumentLike(Protocol):
    """What a report needs of the files that findings point into."""

    name: str
    data: Any
    values: Mapping[BlueprintPath, Span]
    keys: Mapping[BlueprintPath, Span]
    shadowed: tuple[tuple[BlueprintPath, Span], ...]

    def place(self, finding: Diagnostic) -> Span: ...

    def text_of(self, span: Span) -> str: ...


@dataclass(frozen=True)
class Suppressed:
    """A finding that a comment at ``at`` allows, and why it may be."""

    finding: Diagnostic
    reason: str
    at: Span


@dataclass(frozen=True)
class Place:
    """A stretch of one line of a named file: ``line`` and ``column`` count characters from 1, ``end`` is exclusive."""

    name: str
    line: int
    column: int
    end: int
    source: str  # the whole line as it stands in the file, with stars for what is secret


@dataclass(frozen=True)
class Note:
    """A second place of a finding; ``place`` is None where the user wrote nothing, as for a default."""

    path: BlueprintPath
    words: str
    place: Place | None


@dataclass(frozen=True)
class Entry:
    """A finding with its places; ``reason`` and ``allowed_at`` say why and where the file allows it."""

    finding: Diagnostic
    place: Place
    notes: tuple[Note, ...] = ()
    reason: str | None = None
    allowed_at: Place | None = None


@dataclass(frozen=True)
class Report:
    """One file. ``suppressed`` is what the file itself allows, ``unselected`` how many findings the caller did not ask for."""

    name: str
    entries: tuple[Entry, ...]
    suppressed: tuple[Entry, ...] = ()
    unselected: int = 0

    def count(self, severity: Severity) -> int:
        """Findings of one severity, without the suppressed ones."""
        return sum(e.finding.severity == severity for e in self.entries)


def gather(findings: Iterable[Diagnostic], document: DocumentLike, suppressed: Iterable[Suppressed] = (), unselected: int = 0) -> Report:
    """The findings of one document for the printers; no secret of the file is in them."""
    at = _Places(document)
    entries = [Entry(at.masked(f), at.place(document.place(f)), at.notes(f)) for f in findings]
    allowed = [Entry(at.masked(s.finding), at.place(document.place(s.finding)), at.notes(s.finding), at.mask.said(s.reason), at.place(s.at)) for s in suppressed]
    return Report(document.name, _ordered(entries, document.name), _ordered(allowed, document.name), unselected)


def without_secrets(document: DocumentLike) -> Callable[[str, BlueprintPath], str]:
    """What takes the secrets of a document out of a text about a path of it."""
    return _Places(document).mask.said


def summary(*reports: Report) -> str:
    """A line such as ``2 errors, 1 warning; 1 suppressed`` about one file or several."""
    counts = [(sum(r.count(severity) for r in reports), severity) for severity in SEVERITIES]
    found = ", ".join(f"{n:,} {word}{'s' * (n > 1)}" for n, word in counts if n) or "clean"
    hidden = [(sum(len(r.suppressed) for r in reports), "suppressed"), (sum(r.unselected for r in reports), "not selected")]
    return "; ".join([found, *(f"{n:,} {word}" for n, word in hidden if n)])


def _ordered(entries: list[Entry], first: str) -> tuple[Entry, ...]:
    """In the order of the file. A mistake behind an alias is found at each use; it is one mistake, at one place."""

    def key(e: Entry) -> tuple[bool, str, int, int, int, str, str]:
        return e.place.name != first, e.place.name, e.place.line, e.place.column, e.place.end, e.finding.id, e.finding.message

    return tuple({key(e): e for e in sorted(reversed(entries), key=key)}.values())


class _Places:
    """Spans of a document with the lines that they lie in; each text is split once, each line masked once."""

    def __init__(self, document: DocumentLike) -> None:
        self.document = document
        self.texts: dict[str, tuple[list[str], frozenset[int]]] = {}
        self.rows: dict[tuple[str, int], str] = {}
        self.mask = Mask(document.data, document.values, self.row)

    def row(self, span: Span) -> str:
        """The line of a span as it stands in the file."""
        if span.name not in self.texts:
            text = self.document.text_of(span)
            self.texts[span.name] = lines(text), private_lines(text)
        rows = self.texts[span.name][0]
        return rows[span.line - 1] if span.line <= len(rows) else ""

    def place(self, span: Span) -> Place:
        span = replace(span, name=span.name or self.document.name)
        here = (span.name, span.line)
        if here not in self.rows:
            row = self.row(span)
            self.rows[here] = self.mask.line(*here, row, span.line in self.texts[span.name][1])
        return Place(masked_name(span.name), span.line, span.column, max(span.end, span.column + 1), self.rows[here])

    def masked(self, finding: Diagnostic) -> Diagnostic:
        """The finding in words that hold no secret, with a path that is none."""
        said = self.mask.said
        path = tuple(said(step) if isinstance(step, str) else step for step in finding.path)
        return replace(finding, message=said(finding.message, finding.path), help=finding.help and said(finding.help, finding.path), path=path)

    def notes(self, finding: Diagnostic) -> tuple[Note, ...]:
        return tuple(Note(tuple(self.mask.said(step) if isinstance(step, str) else step for step in r.path), self.mask.said(r.note), self.written(r.path)) for r in finding.related)

    def written(self, path: BlueprintPath) -> Place | None:
        """Where the user wrote ``path``: its value, or the key of a value that begins in a line below."""
        value, key = self.document.values.get(path), self.document.keys.get(path)
        span = key if key and (value is None or (value.name == key.name and value.line > key.line)) else value
        return self.place(span) if span else None
