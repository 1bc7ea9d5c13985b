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

from iacgen.design.fabric.cabling import Cabling
from iacgen.design.fabric.dragonfly import Dragonfly
from iacgen.design.fabric.model import Fabric

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
    leaves = trunks.groups * trunks.leaves
    switches = np.arange(leaves + trunks.groups * trunks.spines)
    carries = switches < leaves
    group = np.where(carries, switches // trunks.leaves, (switches - leaves) // max(1, trunks.spines))
    a, b = (np.concatenate(ends) for ends in zip(*((links.a, links.b) for links in trunks.links()), strict=True))
    names = fabric.switch_names  # leaves plane by plane, then spines
    named = (*names[:leaves], *(names[len(fabric.leaves) + s] for s in range(len(switches) - leaves)))
    one = np.ones(len(a), dtype=np.int64)
    Bps = np.full(len(a), fabric.planes * trunks.gbps * 1e9 / 8)  # planes carry alike: the first stands for all
    return of_cabling(Cabling(named, np.where(carries, switches, -1), group, np.zeros_like(switches), a, b, one, Bps), leaves)


def of_cabling(cabling: Cabling, leaves: int) -> Ways | None:
    """The ways between the ``leaves`` groups of the first tier. A flow is spread evenly over the planes that join its ends, and in each over
    the cables that minimal routing may take.

    None where they are too many to count, where two leaves of one plane carry the same hosts, since nothing says which of them sends to
    which, and where no minimal way joins two leaves. Cables that carry more than the slowest one count for the less: ``share`` and ``Bps`` are
    those of as many of the slowest.
    """
    carries = np.flatnonzero(cabling.leaf >= 0)
    if len(np.unique(cabling.leaf[carries] * (cabling.plane.max() + 1) + cabling.plane[carries])) < len(carries):
        return None
    cells, cell = np.unique(cabling.plane * (cabling.group.max() + 1) + cabling.group, return_inverse=True)
    inside = cell[cabling.a] == cell[cabling.b]
    held = np.bincount(cell[carries], minlength=len(cells))
    tops = np.bincount(cell, minlength=len(cells)) - held
    a, b = cabling.a[~inside], cabling.b[~inside]
    if 6 * int(held[cell[a]] @ held[cell[b]]) + 2 * int(held**2 @ np.maximum(1, tops)) > MOST:
        return None
    local, across = np.flatnonzero(inside), np.flatnonzero(~inside)
    both = np.concatenate([local, local, across, across])  # each link in both directions
    turned = np.repeat([False, True, False, True], [len(local), len(local), len(across), len(across)])
    near, far = (np.where(turned, one, other) for one, other in ((cabling.b[both], cabling.a[both]), (cabling.a[both], cabling.b[both])))
    crosses, many = ~inside[both], cabling.links[both]
    hop = np.full((len(cell), len(cell)), -1, dtype=np.int64)  # the link between two switches of one cell
    hop[near[~crosses], far[~crosses]] = np.flatnonzero(~crosses)
    order = carries[np.argsort(cell[carries], kind="stable")]
    first = np.cumsum(held) - held
    paths = _Paths.joined(_within(order, first, held, cell, hop, many), _between(np.flatnonzero(crosses), near, far, order, first, held, cell, hop, many))
    Bps = float((cabling.Bps / cabling.links).min())
    return _spread(cabling, leaves, paths, Bps, Bps / cabling.Bps[both], tuple((cabling.names[x], cabling.names[y]) for x, y in zip(near.tolist(), far.tolist(), strict=True)))


@dataclass(frozen=True)
class _Paths:
    """From switch ``one`` to switch ``two`` over up to three links (rows of ``links``, -1 where there are fewer), of so much weight."""

    one: Ints
    two: Ints
    links: Ints
    weight: Ints

    @staticmethod
    def joined(*parts: _Paths) -> _Paths:
        return _Paths(*(np.concatenate([getattr(part, name) for part in parts], axis=-1) for name in ("one", "two", "links", "weight")))


def _spread(cabling: Cabling, leaves: int, paths: _Paths, Bps: float, slower: NDArray[np.float64], ends: tuple[tuple[str, str], ...]) -> Ways | None:
    planes = int(cabling.plane.max()) + 1
    pair = cabling.leaf[paths.one] * leaves + cabling.leaf[paths.two]
    key = pair * planes + cabling.plane[paths.one]
    total = np.bincount(key, paths.weight, leaves**2 * planes)
    joined = (total.reshape(-1, planes) > 0).sum(axis=1)
    used = np.unique(cabling.leaf[cabling.leaf >= 0])
    if (joined.reshape(leaves, leaves)[np.ix_(used, used)] + np.eye(len(used), dtype=np.int64) == 0).any():
        return None
    share = np.tile(paths.weight / total[key] / joined[pair], 3)
    pair, link = np.tile(pair, 3), paths.links.ravel()
    kept = np.flatnonzero(link >= 0)
    pair, link, share = pair[kept], link[kept], share[kept] * slower[link[kept]]
    if planes > 1:
        pair, link, share, ends = _once(pair, link, share, ends)
    at = np.argsort(pair, kind="stable")
    return Ways(leaves, pair[at], link[at], share[at], Bps, ends)


def _once(pair: Ints, link: Ints, share: NDArray[np.float64], ends: tuple[tuple[str, str], ...]) -> tuple[Ints, Ints, NDArray[np.float64], tuple[tuple[str, str], ...]]:
    """Of links that carry the same of every flow, as those of planes that are alike, the first."""
    at = np.lexsort((pair, link))
    first = np.flatnonzero(np.diff(link[at], prepend=-1))
    parts = np.split(at, first[1:])
    alike: dict[tuple[bytes, bytes], Ints] = {}
    for part in parts:
        alike.setdefault((pair[part].tobytes(), share[part].tobytes()), part)
    kept = np.sort(np.concatenate([*alike.values(), np.empty(0, dtype=np.int64)]))
    used, number = np.unique(link[kept], return_inverse=True)
    return pair[kept], number, share[kept], tuple(ends[i] for i in used.tolist())


def _pairs(cells: Ints, others: Ints, order: Ints, first: Ints, held: Ints) -> tuple[Ints, Ints, Ints]:
    """For each i each leaf of ``cells[i]`` with each of ``others[i]``: (i, one, other). ``order`` lists the leaves cell by cell."""
    number = np.repeat(np.arange(len(cells)), held[cells] * held[others])
    nth = np.arange(len(number)) - np.searchsorted(number, number)
    wide = held[others][number]
    return number, order[first[cells][number] + nth // wide], order[first[others][number] + nth % wide]


def _within(order: Ints, first: Ints, held: Ints, cell: Ints, hop: Ints, many: Ints) -> _Paths:
    """Over the link of two leaves of a group where there is one, else over each switch that has links to both."""
    _, one, two = _pairs(np.arange(len(held)), np.arange(len(held)), order, first, held)
    one, two = one[one != two], two[one != two]
    straight = hop[one, two] >= 0
    beside = _Paths(one[straight], two[straight], np.stack([hop[one[straight], two[straight]], *[np.full(straight.sum(), -1)] * 2]), np.ones(straight.sum(), dtype=np.int64))
    one, two = one[~straight], two[~straight]
    members = np.argsort(cell, kind="stable")
    start, size = np.searchsorted(cell[members], np.arange(len(held))), np.bincount(cell, minlength=len(held))
    number = np.repeat(np.arange(len(one)), size[cell[one]])
    over = members[start[cell[one]][number] + np.arange(len(number)) - np.searchsorted(number, number)]
    one, two = one[number], two[number]
    up, down = hop[one, over], hop[over, two]
    good = (up >= 0) & (down >= 0)
    up, down = up[good], down[good]
    return _Paths.joined(beside, _Paths(one[good], two[good], np.stack([up, down, np.full(len(up), -1)]), many[up]))


def _between(links: Ints, near: Ints, far: Ints, order: Ints, first: Ints, held: Ints, cell: Ints, hop: Ints, many: Ints) -> _Paths:
    """Over each link from group to group, with at most one before and one behind it."""
    number, one, two = _pairs(cell[near[links]], cell[far[links]], order, first, held)
    link = links[number]
    start, end = near[link], far[link]
    before, behind = hop[one, start], hop[end, two]
    good = ((before >= 0) | (one == start)) & ((behind >= 0) | (end == two))
    return _Paths(one[good], two[good], np.stack([before, link, behind])[:, good], many[link[good]])
