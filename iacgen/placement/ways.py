"""The links of a dragonfly one by one: over which of them goes what one leaf sends to another, by minimal routing.

Two groups are joined by few links, two routers of a group by one, and of the spines of a dragonfly+ not all reach a given group. So what
leaves a leaf or a group may be little, and still be more than one link takes. Minimal routing (Kim et al., Technology-Driven,
Highly-Scalable Dragonfly Topology, ISCA 2008): inside a group over the link of two routers, or over all spines; to another group over
the links that join the two, with at most one link before and behind each. A flow is spread over these evenly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iacgen.design.fabric.dragonfly import Dragonfly
from iacgen.design.fabric.model import Fabric, Links

Ints = NDArray[np.int64]
MOST = 4_000_000
"""Entries up to which the ways are counted, as of a balanced dragonfly of about 4,000 hosts: beyond, groups and pairs of groups alone."""


@dataclass(frozen=True)
class Ways:
    """Entry i says that ``share[i]`` of what leaf a sends to leaf b, with ``pair[i]`` = a x leaves + b, goes over the directed link
    ``link[i]``. Entries stand by pair. ``Bps``: bytes per second of a link, one direction. ``ends[l]``: the names of the switches of link l.
    """

    leaves: int
    pair: Ints
    link: Ints
    share: NDArray[np.float64]
    Bps: float
    ends: tuple[tuple[str, str], ...]

    def loads(self, start: Ints, end: Ints, volume: float) -> NDArray[np.float64]:
        """Bytes on each link when ``volume`` bytes go from each leaf of ``start`` to that of ``end``."""
        flows = np.bincount(start * self.leaves + end, minlength=self.leaves**2)
        return self.of(volume * flows)

    def of(self, sent: NDArray[np.float64]) -> NDArray[np.float64]:
        """Bytes on each link when so many go from leaf to leaf; ``sent`` is flat, leaf by leaf."""
        return np.bincount(self.link, self.share * sent[self.pair], minlength=len(self.ends))

    def least(self, leaf: Ints, group: Ints) -> tuple[float, float]:
        """The least share that the busiest link has of a flow between two leaves with hosts: in one group, and between groups; 0 where there
        are no two. ``leaf`` and ``group`` of each host."""
        group_of = np.full(self.leaves, -1, dtype=np.int64)
        group_of[leaf] = group
        first = np.flatnonzero(np.diff(self.pair, prepend=-1))
        busiest = np.maximum.reduceat(self.share, first) if len(first) else np.empty(0)
        one, other = group_of[self.pair[first] // self.leaves], group_of[self.pair[first] % self.leaves]
        used = (one >= 0) & (other >= 0)
        inside, across = (busiest[used & which] for which in (one == other, one != other))
        return (float(inside.min()) if len(inside) else 0.0, float(across.min()) if len(across) else 0.0)


def of_fabric(fabric: Fabric) -> Ways | None:
    """The ways of a dragonfly of several groups; None of another fabric, and of one that is too large to count them."""
    trunks = fabric.trunks
    if not isinstance(trunks, Dragonfly) or trunks.groups < 2:
        return None
    between, inside = trunks.groups * (trunks.groups - 1) * trunks.between * trunks.leaves**2, trunks.groups * trunks.leaves**2 * max(1, trunks.spines)
    if 3 * between + 2 * inside > MOST:
        return None
    local, across = trunks.links()
    leaves = trunks.groups * trunks.leaves
    switches = leaves + trunks.groups * trunks.spines
    near, far = (np.concatenate([np.concatenate(pair) for pair in ends]) for ends in zip(_both(local), _both(across), strict=True))
    hop = np.full((switches, switches), -1, dtype=np.int64)  # the link from a leaf to a switch of its group, and back
    hop[near[: 2 * len(local)], far[: 2 * len(local)]] = np.arange(2 * len(local))
    parts = [_within(trunks, hop), *_between(trunks, hop, near[2 * len(local) :], far[2 * len(local) :], 2 * len(local))]
    pair, link, share = (np.concatenate(column) for column in zip(*parts, strict=True))
    kept = np.flatnonzero(link >= 0)
    kept = kept[np.argsort(pair[kept], kind="stable")]
    names = fabric.switch_names
    spine = np.arange(switches) - leaves + len(fabric.leaves)  # names: leaves plane by plane, then spines
    named = [names[i] if i < leaves else names[spine[i]] for i in range(switches)]
    ends = tuple((named[a], named[b]) for a, b in zip(near.tolist(), far.tolist(), strict=True))
    return Ways(leaves, pair[kept], link[kept], share[kept], fabric.planes * trunks.gbps * 1e9 / 8, ends)


def _both(links: Links) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
    """Both directions of each link: (where they start, where they end)."""
    return (links.a, links.b), (links.b, links.a)


def _within(trunks: Dragonfly, hop: Ints) -> tuple[Ints, Ints, NDArray[np.float64]]:
    leaves = trunks.groups * trunks.leaves
    group, one, two = (x.ravel() for x in np.indices((trunks.groups, trunks.leaves, trunks.leaves)))
    one, two = (group * trunks.leaves + x for x in (one, two))
    apart = one != two
    group, one, two = group[apart], one[apart], two[apart]
    if not trunks.spines:
        return one * leaves + two, hop[one, two], np.ones(len(one))
    spine = leaves + group[:, None] * trunks.spines + np.arange(trunks.spines)
    pair = np.repeat(one * leaves + two, trunks.spines)
    up, down = hop[one[:, None], spine].ravel(), hop[spine, two[:, None]].ravel()
    return np.tile(pair, 2), np.concatenate([up, down]), np.full(2 * len(pair), 1 / trunks.spines)


def _between(trunks: Dragonfly, hop: Ints, near: Ints, far: Ints, first: int) -> list[tuple[Ints, Ints, NDArray[np.float64]]]:
    """Before, on and behind each link from group to group, for each two leaves of these; -1 where there is no hop."""
    leaves = trunks.groups * trunks.leaves
    size = trunks.spines or trunks.leaves
    base = leaves if trunks.spines else 0
    shape = (len(near), trunks.leaves, trunks.leaves)
    number, one, two = (x.ravel() for x in np.indices(shape))
    start, end = near[number], far[number]
    one, two = ((at - base) // size * trunks.leaves + leaf for at, leaf in ((start, one), (end, two)))
    pair, share = one * leaves + two, np.full(len(number), 1 / trunks.between)
    return [(pair, hop[one, start], share), (pair, first + number, share), (pair, hop[end, two], share)]
