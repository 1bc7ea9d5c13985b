"""Hints that name the nearest spelling."""

from __future__ import annotations

from collections.abc import Iterable

from ..diagnostics.nearest import closest


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint for a name that is none of ``known``."""
    known = list(known)
    near = closest(name, known)
    return f"did you mean {near!r}?" if near else f"known: {', '.join(sorted(known)) or 'none'}"


def close(name: str, known: Iterable[str]) -> str | None:
    """The same hint where too many names are known to show them all; None for a name that is near none."""
    near = closest(name, known, likeness=0.7)
    return f"did you mean {near}?" if near else None
