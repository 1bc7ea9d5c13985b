"""Findings as single lines ``file:line:column: severity[ID] slug: message (docs: ...)``, which editors and ``grep`` understand."""

from __future__ import annotations

from .printable import printable
from .report import Entry, Report


def render(report: Report) -> str:
    """One line a finding; empty when there are none."""
    return "\n".join(_line(entry) for entry in report.entries)


def _line(entry: Entry) -> str:
    f, place = entry.finding, entry.place
    return f"{printable(place.name)}:{place.line}:{place.column}: {f.severity}[{f.id}] {f.slug}: {printable(f.message)} (docs: {f.link})"
