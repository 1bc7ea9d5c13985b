"""Findings that only one of the two sides has."""

from __future__ import annotations

from ..diagnostics import Diagnostic
from .model import Side

_RANK = {"error": 0, "warning": 1, "info": 2}


def new_findings(old: Side, new: Side) -> tuple[Diagnostic, ...]:
    """Those of the new side that the old one does not have at the same path in the same words, the worst first."""
    known = {_key(f) for f in old.findings}
    return tuple(sorted((f for f in new.findings if _key(f) not in known), key=lambda f: (_RANK[f.severity], f.id, tuple(map(str, f.path)), f.message)))


def gone_findings(old: Side, new: Side) -> tuple[Diagnostic, ...]:
    """Those that the change does away with."""
    return new_findings(new, old)


def _key(finding: Diagnostic) -> tuple[object, ...]:
    return finding.id, finding.path, finding.message
