"""The nearest spelling among the names that exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint for a name that is none of ``known``."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(known)) or 'none'}"


def close(name: str, known: Iterable[str]) -> str | None:
    """The same hint where too many names are known to show them all; None for a name that is near none."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.7)
    return f"did you mean {near[0]}?" if near else None
