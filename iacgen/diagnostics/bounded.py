"""Not more findings than a person reads, and not more work than they are worth."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from .model import Diagnostic

MOST = 100


def bounded(findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The first ``MOST``, and a word at the place of the next one, as grave as it, that there are more. What comes after is never made."""
    found = list(islice(findings, MOST + 1))
    if len(found) <= MOST:
        return found
    after = found.pop()
    return [*found, Diagnostic("IAC109", "more-errors", after.severity, f"more than {MOST} findings of this kind; the rest is not shown", after.path, on_key=after.on_key, at=after.at)]
