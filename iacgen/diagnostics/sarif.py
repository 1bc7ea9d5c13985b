"""Findings as SARIF 2.1.0, which code scanning services and editors read.

Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0 Plus Errata 01; GitHub Docs, "SARIF support for
code scanning", for the properties that GitHub asks for.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from .kind import Kind
from .model import BlueprintPath
from .report import Entry, Place, Report

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_PROBLEMS = {"error": "error", "warning": "warning", "info": "recommendation"}


def render(reports: Sequence[Report], kinds: Mapping[str, Kind], version: str, unread: Sequence[tuple[str, str]] = ()) -> str:
    """One run over all files. ``kinds`` tells about each id; ``unread`` names files that could not be read, and why."""
    entries = [e for report in reports for e in (*report.entries, *report.suppressed)]
    ids = sorted({e.finding.id for e in entries})
    driver: dict[str, Any] = {"name": "iacgen", "version": version, "semanticVersion": version, "rules": [_rule(kinds[id]) for id in ids]}
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": not unread, "toolExecutionNotifications": [_unread(name, why) for name, why in unread]}],
        "columnKind": "utf16CodeUnits",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "artifacts": [{"location": _artifact(name)} for name in dict.fromkeys([*(r.name for r in reports), *(e.place.name for e in entries)])],
        "results": [_result(e, ids.index(e.finding.id), mark) for e, mark in zip(entries, _fingerprints(entries), strict=True)],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(kind: Kind) -> dict[str, Any]:
    worst = next((s for s in ("error", "warning", "info") if s in kind.production | kind.lab), "warning")
    return {
        "id": kind.id,
        "name": kind.slug,
        "shortDescription": {"text": kind.slug.replace("-", " ").capitalize()},
        "fullDescription": {"text": _plain(kind.about)},
        "help": {"text": kind.page, "markdown": kind.page},
        "defaultConfiguration": {"level": _LEVELS[worst]},
        "properties": {"problem.severity": _PROBLEMS[worst], "precision": "very-high"},
    }


def _result(entry: Entry, rule: int, fingerprint: str) -> dict[str, Any]:
    f = entry.finding
    related = [{"id": i, "message": {"text": _plain(n.words)}, **_location(n.place, n.path)} for i, n in enumerate(entry.notes, 1) if n.place]
    unwritten = [f"{_dotted(n.path)}: {n.words}" for n in entry.notes if not n.place]
    result = {
        "ruleId": f.id,
        "ruleIndex": rule,
        "level": _LEVELS[f.severity],
        "message": {"text": _plain("\n".join([f.message, *unwritten, *([f.help] if f.help else []), f"docs: {f.link}"]))},
        "locations": [_location(entry.place, f.path)],
        "partialFingerprints": {"blueprintPath/v1": fingerprint},
        "suppressions": [],
    }
    if related:
        result["relatedLocations"] = related
    if entry.allowed_at:
        result["suppressions"] = [{"kind": "inSource", "status": "accepted", "justification": entry.reason, "location": _location(entry.allowed_at, ())}]
    return result


def _location(place: Place, path: BlueprintPath) -> dict[str, Any]:
    """Columns count UTF-16 code units from 1, as the run declares."""
    start, end = _utf16(place.source, place.column), _utf16(place.source, place.end)
    region = {"startLine": place.line, "startColumn": start, "endLine": place.line, "endColumn": end}
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": _artifact(place.name), "region": region}}
    return location | ({"logicalLocations": [{"fullyQualifiedName": _dotted(path), "kind": "member"}]} if path else {})


def _utf16(source: str, column: int) -> int:
    return column + sum(c > "\uffff" for c in source[: column - 1])


def _artifact(name: str) -> dict[str, Any]:
    """A relative file lies below the root of the checkout; a name never reads as a scheme or a host."""
    uri = quote(name.encode("utf-8", "surrogateescape"))
    if name.startswith("/"):
        return {"uri": f"file://{uri}"}
    return {"uri": uri, "uriBaseId": "%SRCROOT%"}


def _fingerprints(entries: Iterable[Entry]) -> list[str]:
    """One a result, made of what stays when lines move: file, id, blueprint path, and the how-manieth of its like it is."""
    seen: Counter[tuple[str, str, BlueprintPath, bool]] = Counter()
    out = []
    for e in entries:
        like = (e.place.name, e.finding.id, e.finding.path, e.finding.on_key)
        seen[like] += 1
        out.append(hashlib.sha256(json.dumps([*like, seen[like]]).encode()).hexdigest()[:32])
    return out


def _plain(text: str) -> str:
    """A text that no viewer takes for an embedded link (SARIF 3.11.6): brackets before a parenthesis get their backslashes."""
    return re.sub(r"[\[\]\\]", r"\\\g<0>", text) if re.search(r"\]\(", text) else text


def _dotted(path: BlueprintPath) -> str:
    return ".".join(map(str, path))


def _unread(name: str, why: str) -> dict[str, Any]:
    return {"level": "error", "message": {"text": _plain(why)}, "locations": [{"physicalLocation": {"artifactLocation": _artifact(name)}}]}
