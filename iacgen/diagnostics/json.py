"""Findings as JSON. The keys are described in ``docs/checking.md`` and, for programs, in ``docs/findings.schema.json``.

A key is never removed and never changes its meaning within one ``schema``; new ones may come.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .report import Entry, Place, Report

SCHEMA = 1


def render(reports: Sequence[Report], profile: str) -> str:
    """One object for all files. Pure ASCII: whatever a blueprint holds stands in escapes."""
    entries = [e for report in reports for e in (*report.entries, *report.suppressed)]
    return json.dumps({"schema": SCHEMA, "profile": profile, "files": [_file(r) for r in reports], "findings": [_finding(e) for e in entries]}, indent=2)


def _file(report: Report) -> dict[str, Any]:
    counts = {"errors": report.count("error"), "warnings": report.count("warning"), "infos": report.count("info")}
    return {"file": report.name, **counts, "suppressed": len(report.suppressed), "unselected": report.unselected}


def _finding(entry: Entry) -> dict[str, Any]:
    f = entry.finding
    return {
        "id": f.id,
        "slug": f.slug,
        "severity": f.severity,
        "message": f.message,
        "help": f.help,
        "link": f.link,
        **_place(entry.place),
        "path": list(f.path),
        "related": [{"path": list(n.path), "note": n.words, "place": _place(n.place) if n.place else None} for n in entry.notes],
        "suppressed": {"reason": entry.reason, **_place(entry.allowed_at)} if entry.allowed_at else None,
    }


def _place(place: Place) -> dict[str, Any]:
    return {"file": place.name, "line": place.line, "column": place.column, "endLine": place.line, "endColumn": place.end}
