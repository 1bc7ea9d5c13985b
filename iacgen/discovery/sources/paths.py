"""Hosts that a cloud or a label places by names alone: from the widest to the nearest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..wiring import Wiring


@dataclass(frozen=True)
class Place:
    """A host, what it lies in from the top down, the realm (a zone) beyond which nothing is joined, and its NVLink domain."""

    host: str
    path: tuple[str, ...]
    realm: str = ""
    domain: str | None = None


def wired(wiring: Wiring, places: Sequence[Place], words: Sequence[str]) -> None:
    """Place each host. What lies in two different things is two, whatever its name, and is then called after both.

    ``words`` name the steps from the top down; a realm is a tier of its own only where it joins several tops.
    """
    tops: dict[str, set[str]] = {}
    within: dict[tuple[int, str], set[tuple[str, ...]]] = {}
    for place in places:
        tops.setdefault(place.realm, set()).update(place.path[:1])
        for i, step in enumerate(place.path):
            within.setdefault((i, step), set()).add((place.realm, *place.path[:i]))
    several = any(len(some) > 1 for realm, some in tops.items() if realm)
    for place in places:
        path = [(f"\n{place.realm}", place.realm)] if place.realm and several and place.path else []
        for i, step in enumerate(place.path):
            alone = len(within[i, step]) == 1
            path.append(("\n".join(("", place.realm, *place.path[: i + 1])), step if alone else "-".join((*place.path[:i], step) if i else (place.realm, step))))
        wiring.place(place.host, path, place.domain)
    wiring.words = (*reversed(words), *(("zone",) if several else ()))
