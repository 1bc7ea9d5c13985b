"""The nearest spelling among the names that exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def closest(word: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """The one name of ``known`` that ``word`` was most likely meant to be; ``likeness`` is between 0 and 1."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=likeness)
    return near[0] if near else None
