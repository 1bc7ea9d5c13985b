"""Which findings the caller wants to see, and how bad one must be to fail the run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .kind import Kind
from .model import Diagnostic
from .nearest import closest

FAIL_ON = {"error": {"error"}, "warning": {"error", "warning"}, "info": {"error", "warning", "info"}, "never": set()}
"""``--fail-on`` → the severities that fail a run."""


class UnknownName(ValueError):
    """A name that is no id, no slug and no beginning of an id."""

    def __init__(self, name: str, near: str | None) -> None:
        super().__init__(f"no finding is called {name!r}" + (f"; did you mean {near!r}?" if near else ": an id, a name, or the first digits of ids are wanted, such as IAC2"))


@dataclass(frozen=True)
class Selection:
    """The ids that are shown."""

    ids: frozenset[str]

    def has(self, finding: Diagnostic) -> bool:
        """Is the finding one of those that are shown?"""
        return finding.id in self.ids


def selection(select: Iterable[str], ignore: Iterable[str], kinds: Mapping[str, Kind]) -> Selection:
    """All kinds, or those of ``select``, without those of ``ignore``. Each item may hold several names with commas between.

    Raises UnknownName.
    """
    wanted, unwanted = (frozenset().union(*(_ids(name, kinds) for name in _names(items))) for items in (select, ignore))
    return Selection((wanted if any(_names(select)) else frozenset(kinds)) - unwanted)


def _names(items: Iterable[str]) -> list[str]:
    return [name for item in items for name in re.split(r"[\s,]+", item) if name]


def _ids(name: str, kinds: Mapping[str, Kind]) -> frozenset[str]:
    """The ids that an id, a slug or the beginning of an id stands for."""
    upper = name.upper()
    found = frozenset(k.id for k in kinds.values() if k.slug == name.lower() or (upper.startswith("IAC") and k.id.startswith(upper)))
    if not found:
        raise UnknownName(name, closest(name, [n for k in kinds.values() for n in (k.id, k.slug)]))
    return found
