"""Findings as text: one block each, with the lines of the file and a caret under each place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .model import Diagnostic
from .printable import printable, printable_lines
from .report import DocumentLike, Entry, Place, Report, gather

LONGEST = 160  # characters of a source line that are shown
_COLORS = {"error": "1;31", "warning": "1;33", "info": "1;36", "gutter": "34", "strong": "1"}


def render_text(findings: Iterable[Diagnostic], document: DocumentLike) -> str:
    """All findings, in the order of their places in the file, without colour."""
    return render(gather(findings, document))


def render(report: Report, color: bool = False) -> str:
    """All findings of a file; with ``color`` for a terminal that knows ANSI escapes."""
    return "\n\n".join("\n".join(_block(entry, _Paint(color))) for entry in report.entries)


class _Paint:
    """Colours words of this module; what comes from a file has been made printable before."""

    def __init__(self, color: bool) -> None:
        self.color = color

    def __call__(self, what: str, text: str) -> str:
        return f"\x1b[{_COLORS[what]}m{text}\x1b[0m" if self.color else text


def _block(entry: Entry, paint: _Paint) -> Iterator[str]:
    f, places = entry.finding, [entry.place, *(n.place for n in entry.notes if n.place)]
    width = max(len(str(p.line)) for p in places)
    bar = paint("gutter", f"{' ' * width} |")
    message, *more = printable_lines(f.message)
    yield paint(f.severity, f"{f.severity}[{f.id}]") + paint("strong", f" {f.slug}: {message}")
    yield from (f"{' ' * width}   {line}" for line in more)
    yield f"{' ' * width}{paint('gutter', '-->')} {printable(entry.place.name)}:{entry.place.line}:{entry.place.column}"
    yield bar
    yield from _excerpt(entry.place, "^", "", width, paint, f.severity)
    before = entry.place
    for note in entry.notes:
        if note.place is None:
            continue
        if note.place.name != before.name:
            yield f"{' ' * width}{paint('gutter', ':::')} {printable(note.place.name)}:{note.place.line}:{note.place.column}"
        if (note.place.name, note.place.line) != (before.name, before.line):
            yield bar
        same = (note.place.name, note.place.line) == (before.name, before.line) and len(before.source) <= LONGEST
        yield from list(_excerpt(note.place, "-", note.words, width, paint, "gutter"))[same:]
        before = note.place
    equals = f"{' ' * width} {paint('gutter', '=')} "
    for note in entry.notes:
        if note.place is None:
            yield f"{equals}note: {printable('.'.join(map(str, note.path)))}: {printable(note.words)}"
    if f.help:
        first, *rest = printable_lines(f.help)
        yield f"{equals}help: {first}"
        yield from (f"{' ' * width}         {line}" for line in rest)
    yield f"{equals}docs: {f.link}"


def _excerpt(place: Place, mark: str, words: str, width: int, paint: _Paint, what: str) -> Iterator[str]:
    """The line of ``place``, and below it the marks."""
    source, first, end = _window(printable(place.source), place.column, place.end)
    marks = mark * max(1, end - first) + (f" {printable(words)}" if words else "")
    yield paint("gutter", f"{place.line:>{width}} |") + (f" {source}" if source else "")
    yield paint("gutter", f"{' ' * width} |") + " " * first + paint(what, marks)


def _window(source: str, column: int, end: int) -> tuple[str, int, int]:
    """The part of a long line that the caret needs, with the caret's first and last column in it."""
    end = max(column + 1, min(end, len(source) + 1))
    if len(source) <= LONGEST:
        return source, column, end
    start = max(0, column - 1 - LONGEST // 3)
    part = source[start : start + LONGEST]
    before, after = "..." if start else "", "..." if start + LONGEST < len(source) else ""
    first = column - start + len(before)
    return f"{before}{part}{after}", first, min(end - column + first, len(before) + len(part) + 1)
