"""Findings as text: one block each, with the line of the file and a caret under the place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from .model import BlueprintPath, Diagnostic


class SpanLike(Protocol):
    """A stretch of one line, counted from 1."""

    line: int
    column: int
    end: int


class DocumentLike(Protocol):
    """What a printer needs of the file that a finding points into."""

    name: str
    text: str

    def span(self, path: BlueprintPath, on_key: bool = False) -> SpanLike: ...


def render_text(findings: Iterable[Diagnostic], document: DocumentLike) -> str:
    """All findings, in the order of their places in the file."""
    lines = document.text.splitlines()
    placed = sorted(((document.span(f.path, f.on_key), f) for f in findings), key=lambda p: (p[0].line, p[0].column, p[1].id, p[1].message))
    return "\n\n".join(_block(f, span, document.name, lines) for span, f in placed)


def _block(f: Diagnostic, span: SpanLike, name: str, lines: list[str]) -> str:
    source = _printable(lines[span.line - 1]) if span.line <= len(lines) else ""
    width = len(str(span.line))
    caret = " " * (span.column - 1) + "^" * max(1, min(span.end, len(source) + 1) - span.column)
    out = [f"{f.severity}[{f.id}] {f.slug}: {f.message}", f"{' ' * width}--> {name}:{span.line}:{span.column}", f"{' ' * width} |", f"{span.line} | {source}", f"{' ' * width} | {caret}"]
    for related in f.related:
        out.append(f"{' ' * width} = note: {'.'.join(map(str, related.path))}: {related.note}")
    if f.help:
        first, *rest = f.help.splitlines()
        out += [f"{' ' * width} = help: {first}", *(f"{' ' * width}         {line}" for line in rest)]
    return "\n".join(out)


def _printable(line: str) -> str:
    """No control character of an untrusted file reaches the terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)
