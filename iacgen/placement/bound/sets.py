"""The fabric as sets of hosts whose leaving bytes are counted, from the hosts upwards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..tiers import Tiers

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Kind:
    """Sets that are alike: hosts in each, bytes per second that may leave one, how many there are, the name of the first."""

    hosts: int
    uplink_Bps: float
    count: int
    name: str


@dataclass(frozen=True)
class Cut:
    """The sets of one tier. ``pair_Bps`` is the fastest link between two of ``sets``, None where they meet in switches above."""

    tier: str
    kinds: tuple[Kind, ...]
    pair_Bps: float | None = None
    sets: int = 0

    @property
    def largest(self) -> int:
        """Hosts in the largest set."""
        return max(kind.hosts for kind in self.kinds)

    def whole(self, size: int) -> int:
        """How many groups of ``size`` hosts can each lie in one set."""
        return sum(kind.count * (kind.hosts // size) for kind in self.kinds)


def cuts(tiers: Tiers) -> tuple[Cut, ...]:
    """NVLink domains first, where these join several hosts, then the switch tiers.

    What crosses a switch group within an NVLink domain uses no uplink. So groups that share a domain are one set here, with their
    uplinks together: what leaves the set leaves one of the groups. Between such sets there is no one link to count.
    """
    found = []
    if tiers.domain is not None:
        found.append(_cut("NVLink domain", tiers.joined, np.full(int(tiers.joined.max()) + 1, np.inf), ()))
    for k, name in enumerate(tiers.names):
        labels, uplink = tiers.labels[k], tiers.uplink_Bps[k]
        names = tiers.groups[k]
        pair = None
        if tiers.domain is not None:
            merged = _merged(tiers.joined, labels)
            uplink, labels = np.bincount(_of_group(merged, labels, len(names)), uplink, minlength=len(names)), merged
        if tiers.pair_Bps is not None and k == len(tiers.names) - 1 and (labels == tiers.labels[k]).all():
            pair = float(tiers.pair_Bps[~np.eye(len(tiers.pair_Bps), dtype=bool)].max())
        found.append(_cut(name, labels, uplink, names, pair))
    return tuple(found)


def _cut(tier: str, labels: Ints, uplink: Floats, names: tuple[str, ...], pair: float | None = None) -> Cut:
    sizes = np.bincount(labels, minlength=len(uplink))
    used = np.flatnonzero(sizes)
    alike: dict[tuple[int, float], list[int]] = {}
    for group in used.tolist():
        alike.setdefault((int(sizes[group]), float(uplink[group])), []).append(group)
    kinds = tuple(Kind(hosts, Bps, len(some), names[some[0]] if names else tier) for (hosts, Bps), some in sorted(alike.items(), reverse=True))
    return Cut(tier, kinds, pair, len(used))


def _merged(domain: Ints, labels: Ints) -> Ints:
    """Labels where groups that share a domain have the least of their numbers."""
    while True:
        least = np.full(int(domain.max()) + 1, np.iinfo(np.int64).max)
        np.minimum.at(least, domain, labels)
        of_group = np.arange(int(labels.max()) + 1)
        np.minimum.at(of_group, labels, least[domain])
        after = of_group[labels]
        if (after == labels).all():
            return labels
        labels = after


def _of_group(merged: Ints, labels: Ints, groups: int) -> Ints:
    """The set of every group."""
    of = np.arange(groups)
    of[labels] = merged
    return of
