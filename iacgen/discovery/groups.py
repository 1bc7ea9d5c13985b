"""Which switches of one tier stand for one group, and which of them each group of the tier below lies under."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations

_MOST_ABOVE = 2000  # different switches above one group: a made-up file has more, and would take quadratic time
_NUMBER = re.compile(r"(\d+)")
_KIND = re.compile(r"(?:[-._]+|\A)(?:leaf|leaves|spine|core|switch|sw|rail|router|tor)\Z", re.IGNORECASE)


class Joined:
    """Union-find over hashable things; the root of a set is its first member in the order given."""

    def __init__(self, things: Iterable[Hashable]) -> None:
        self.parent = {thing: thing for thing in things}
        self.rank = {thing: i for i, thing in enumerate(self.parent)}

    def root(self, thing: Hashable) -> Hashable:
        """The first member of the set that ``thing`` is in."""
        while self.parent[thing] != thing:
            self.parent[thing] = thing = self.parent[self.parent[thing]]
        return thing

    def join(self, a: Hashable, b: Hashable) -> None:
        """Make one set of the two."""
        low, high = sorted((self.root(a), self.root(b)), key=self.rank.__getitem__)
        self.parent[high] = low


def clusters(below: Mapping[Hashable, Counter[int]]) -> dict[Hashable, Hashable]:
    """Switch → the first switch of its cluster, for the switches of a tier, each with its links to the groups below.

    Two switches are of one cluster where they share more than half of the groups of the one that has fewer: the rail leaves of a unit share
    their hosts, the spines of a pod its leaves. A single cable in the wrong place joins nothing. Where most of the groups under a cluster
    have no more than half of their links to it, it is no tier of the fabric by itself and is joined with the one that has the others.
    """
    joined = Joined(below)
    alike: dict[frozenset[int], Hashable] = {}
    for switch, groups in below.items():
        joined.join(alike.setdefault(frozenset(groups), switch), switch)
    above: dict[int, list[frozenset[int]]] = {}
    for groups in alike:
        for group in groups:
            above.setdefault(group, []).append(groups)
    shared: Counter[tuple[frozenset[int], frozenset[int]]] = Counter()
    order = {groups: i for i, groups in enumerate(alike)}
    for some in above.values():
        if len(some) <= _MOST_ABOVE:
            shared.update(combinations(sorted(some, key=order.__getitem__), 2))
    for (a, b), n in shared.items():
        if 2 * n > min(len(a), len(b)):
            joined.join(alike[a], alike[b])
    while pairs := _straddled(below, joined):
        for a, b in pairs:
            joined.join(a, b)
    return {switch: joined.root(switch) for switch in below}


def weights(below: Mapping[Hashable, Counter[int]], cluster: Mapping[Hashable, Hashable] | Joined) -> dict[int, Counter[Hashable]]:
    """Group → its links to each cluster, in the order of the switches."""
    out: dict[int, Counter[Hashable]] = {}
    for switch, groups in below.items():
        root = cluster.root(switch) if isinstance(cluster, Joined) else cluster[switch]
        for group, links in groups.items():
            out.setdefault(group, Counter())[root] += links
    return out


def _straddled(below: Mapping[Hashable, Counter[int]], joined: Joined) -> list[tuple[Hashable, Hashable]]:
    """Pairs of clusters to join, since most groups under the first straddle it and another."""
    members: Counter[Hashable] = Counter()
    straddlers: dict[Hashable, list[Hashable]] = {}
    for of in weights(below, joined).values():
        ranked = of.most_common(2)
        members[ranked[0][0]] += 1
        if 2 * ranked[0][1] <= of.total():
            straddlers.setdefault(ranked[0][0], []).append(ranked[1][0])
    return [(home, other) for home, others in straddlers.items() if 2 * len(others) > members[home] for other in others]


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """A key that sorts names as people do: gpu2 before gpu10."""
    return tuple((0, int(part[:15]), part) if part.isdecimal() and part.isascii() else (1, 0, part) for part in _NUMBER.split(name) if part)


def common(names: Sequence[str]) -> str:
    """One name for several switches: what their names begin with, without a word for the kind of switch; or from the first to the last."""
    if len(names) == 1:
        return names[0]
    low, high = min(names), max(names)
    stem = low[: next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))]
    if any(name[len(stem) : len(stem) + 1].isdigit() for name in names):
        stem = stem.rstrip("0123456789")
    stem = _KIND.sub("", stem.rstrip("-._"))
    return stem if len(stem) > 1 and not _KIND.fullmatch(stem) else span(names)


def span(names: Sequence[str]) -> str:
    """From the first name to the last; a name by itself where it is the only one."""
    ordered = sorted(names, key=natural)
    return ordered[0] if len(ordered) == 1 else f"{ordered[0][:30]}-to-{ordered[-1][:30]}"
