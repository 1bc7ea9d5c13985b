"""Findings as workflow commands, which GitHub shows beside the lines of a pull request.

A value cannot end its command: the reserved characters are escaped as the runner's own toolkit does it. The runner also takes
``##[...]`` anywhere in any other line for a command, so that nothing of a file is printed outside a command's data.
Source: GitHub Docs, "Workflow commands for GitHub Actions"; actions/toolkit, packages/core/src/command.ts.
"""

from __future__ import annotations

from collections.abc import Sequence

from .printable import printable, printable_lines
from .report import Entry, Report

_LEVELS = {"error": "error", "warning": "warning", "info": "notice"}


def render(reports: Sequence[Report]) -> str:
    """One command a finding. Columns count characters from 1; ``endColumn`` is the one after the last."""
    return "\n".join(_command(entry) for report in reports for entry in report.entries)


def _command(entry: Entry) -> str:
    f, place = entry.finding, entry.place
    said = [*printable_lines(f.message), *(f"{_named(n.path)}: {printable(n.words)}" for n in entry.notes)]
    said += [f"help: {line}" for line in printable_lines(f.help or "") if line]
    properties = {"file": place.name, "line": place.line, "endLine": place.line, "col": place.column, "endColumn": place.end, "title": f"{f.id} {f.slug}"}
    words = ",".join(f"{key}={_property(printable(str(value)))}" for key, value in properties.items())
    return f"::{_LEVELS[f.severity]} {words}::{_data(chr(10).join([*said, f'docs: {f.link}']))}"


def _named(path: tuple[str | int, ...]) -> str:
    return printable(".".join(map(str, path)))


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
