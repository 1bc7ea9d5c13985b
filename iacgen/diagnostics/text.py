"""Findings as text: one block each, with the line of the file and a caret under the place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from .model import Diagnostic, Span, lines


LONGEST = 160  # characters of a source line that are shown


class DocumentLike(Protocol):
    """What a printer needs of the files that findings point into."""

    name: str

    def place(self, finding: Diagnostic) -> Span: ...

    def text_of(self, span: Span) -> str: ...


def render_text(findings: Iterable[Diagnostic], document: DocumentLike) -> str:
    """All findings, in the order of their places in the file."""
    placed = sorted(((document.place(f), f) for f in findings), key=lambda p: (p[0].name != document.name, p[0].name, p[0].line, p[0].column, p[1].id, p[1].message))
    texts = {span.name: lines(document.text_of(span)) for span, _ in placed}
    return "\n\n".join(_block(f, span, span.name or document.name, texts[span.name]) for span, f in placed)


def _block(f: Diagnostic, span: Span, name: str, rows: list[str]) -> str:
    source, first, end = _window(_printable(rows[span.line - 1]) if span.line <= len(rows) else "", span.column, span.end)
    width = len(str(span.line))
    caret = " " * (first - 1) + "^" * max(1, end - first)
    out = [f"{f.severity}[{f.id}] {f.slug}: {f.message}", f"{' ' * width}--> {_printable(name)}:{span.line}:{span.column}", f"{' ' * width} |", f"{span.line} | {source}", f"{' ' * width} | {caret}"]
    for related in f.related:
        out.append(f"{' ' * width} = note: {'.'.join(map(str, related.path))}: {related.note}")
    if f.help:
        first, *rest = f.help.splitlines()
        out += [f"{' ' * width} = help: {first}", *(f"{' ' * width}         {line}" for line in rest)]
    return "\n".join(out)


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


def _printable(line: str) -> str:
    """No control character of an untrusted file reaches the terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)
