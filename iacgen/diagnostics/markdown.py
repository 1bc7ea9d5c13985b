"""Findings as a Markdown table, for a comment on a pull request or a step summary.

Nothing that a blueprint says becomes markup, a link, an image, or a call of somebody's name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .model import Severity
from .printable import printable
from .report import Entry, Report, summary

LIMIT = 65_536  # characters of a comment: GitHub REST API, "body is too long (maximum is 65536 characters)"
LONGEST = 1_500  # characters of one cell
_RANK: dict[Severity, int] = {"error": 0, "warning": 1, "info": 2}
_HEAD = "| | place | finding |\n|---|---|---|\n"
_ACTIVE = re.compile(r"[\\`*_{}\[\]<>#|~&$]")
# GitHub links these wherever they stand in text, also behind a backslash; an empty character between takes the meaning away.
_LINKED = re.compile(r"@(?=\w)|(?<=:)(?=//)|#(?=\d)|\b(?:www)(?=\.)|\bGH(?=-\d)|[0-9a-f]{6}(?=[0-9a-f])", re.IGNORECASE)
_EMPTY = "\N{ZERO WIDTH NON-JOINER}"


def render(reports: Sequence[Report], limit: int = LIMIT) -> str:
    """A line a file, then a table with the worst findings first; what does not fit into ``limit`` characters is counted."""
    out = "\n".join(f"* **{cell(r.name)}**: {summary(r)}" for r in reports) + "\n"
    if len(out) > limit // 2:
        out = f"{len(reports):,} files\n"
    rows = [_row(e) for e in sorted((e for r in reports for e in r.entries), key=lambda e: _RANK[e.finding.severity])]
    if not rows:
        return out
    out += f"\n{_HEAD}"
    for i, row in enumerate(rows):
        rest = f"\n{len(rows) - i:,} more {'finding is' if len(rows) - i == 1 else 'findings are'} not shown: the text would be too long.\n"
        if len(out) + len(row) + len(rest) > limit:
            return out + rest
        out += row
    return out


def cell(text: str) -> str:
    """A text as the words of a table cell."""
    text = printable(text)
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    return _ACTIVE.sub(r"\\\g<0>", _LINKED.sub(lambda m: m[0] + _EMPTY, text))


def _row(entry: Entry) -> str:
    f, place = entry.finding, entry.place
    said = [f"**{f.id}** {f.slug}: {cell(f.message)}", *(f"{cell('.'.join(map(str, n.path)))}: {cell(n.words)}" for n in entry.notes)]
    said += [*(cell(line) for line in (f.help or "").split("\n") if line), f"docs: {f.link}"]
    return f"| {f.severity} | {cell(place.name)}:{place.line}:{place.column} | {'<br>'.join(said)} |\n"
