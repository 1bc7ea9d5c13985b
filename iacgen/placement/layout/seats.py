"""Which hosts of a fabric take part, bin by bin and pod by pod, in multiples of what should stay together.

A bin is the smallest set of hosts that traffic wants to stay in: an NVLink domain where one joins several hosts, else a leaf group. A
pod is a set of bins on a higher tier. A bin whose size is no multiple of a tile would shift every later tile over a border: its surplus
comes at the end of its pod, in chunks, so that groups which have to straddle do so evenly, or idles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..tiers import Tiers

Ints = NDArray[np.int64]
Turn = Literal["as they lie", "biggest first", "smallest outside"]


@dataclass(frozen=True)
class Rule:
    """How hosts are chosen. Of each bin multiples of ``unit``; of each pod multiples of ``quota``; the surplus of bins in multiples of
    ``chunk`` (0: none), which together fill multiples of ``group``. ``turn``: pods and bins as they lie, the biggest first, or the smallest at both
    ends, where a pipeline goes out on one side only. ``spare``: one host of each pod idles."""

    unit: int
    quota: int
    chunk: int = 0
    group: int = 1
    turn: Turn = "as they lie"
    spare: bool = False


@dataclass(frozen=True)
class Seats:
    """Hosts in a sequence; ``takes``: how many of them are of the first pod, of the second, and so on."""

    hosts: Ints
    takes: Ints


@dataclass(frozen=True)
class Ground:
    """Bins and pods of a fabric. ``hosts``: all of them, bin by bin; bin b is ``hosts[start[b] : start[b] + size[b]]`` and lies in
    ``pod[b]``; bins are in the order of the fabric."""

    hosts: Ints
    start: Ints
    size: Ints
    pod: Ints

    @cached_property
    def pods(self) -> int:
        return int(self.pod.max()) + 1

    def seats(self, rule: Rule, nodes: int) -> Seats | None:
        """So many hosts by a rule; None where it leaves too few."""
        size = self._less_one() if rule.spare else self.size
        whole = size - size % rule.unit
        rest = size - whole
        rest -= rest % rule.chunk if rule.chunk else rest
        extra = np.bincount(self.pod, rest, self.pods).astype(np.int64)
        room = np.bincount(self.pod, whole, self.pods).astype(np.int64) + extra - extra % rule.group
        room -= room % rule.quota
        if room.sum() < nodes:
            return None
        order = np.argsort(_keys(room, np.zeros(self.pods, dtype=np.int64), rule.turn), kind="stable")
        before = np.cumsum(room[order]) - room[order]
        takes = np.clip(nodes - before, 0, room[order])
        rank = np.empty(self.pods, dtype=np.int64)
        rank[order] = np.arange(self.pods)
        return Seats(self._run(rank, whole, rest, takes, rule.turn), takes[takes > 0])

    def _less_one(self) -> Ints:
        """Sizes without a spare of each pod, from its largest bin: that is where a row is longest."""
        size = self.size.copy()
        at = np.lexsort((np.arange(len(size)), -size, self.pod))
        first = at[np.searchsorted(self.pod[at], np.arange(self.pods))]
        size[first] -= 1
        return size

    def _run(self, rank: Ints, whole: Ints, rest: Ints, takes: Ints, turn: Turn) -> Ints:
        """The first ``takes`` hosts of each pod: whole parts of its bins, then what they have besides."""
        bins = np.arange(len(self.size))
        part = np.repeat([0, 1], len(bins))
        start, count = np.concatenate([self.start, self.start + whole]), np.concatenate([whole, rest])
        key = np.concatenate([_keys(whole, self.pod, turn), _keys(rest, self.pod, turn)])
        pod = np.tile(rank[self.pod], 2)
        at = np.lexsort((np.tile(bins, 2), key, part, pod))
        at = at[count[at] > 0]
        pod, start, count = pod[at], start[at], count[at]
        sums = np.cumsum(count)
        earlier = np.concatenate([[0], sums])[np.searchsorted(pod, pod)]  # hosts of the pods before
        count = np.clip(takes[pod] - (sums - count - earlier), 0, count)
        return self.hosts[np.repeat(start - (np.cumsum(count) - count), count) + np.arange(count.sum())]


def _keys(size: Ints, pod: Ints, turn: Turn) -> Ints:
    """What sorts bins of each pod, or pods, into that turn."""
    if turn == "as they lie":
        return np.zeros(len(size), dtype=np.int64)
    key = -size
    if turn == "smallest outside":
        used = np.flatnonzero(size)
        at = used[np.lexsort((used, size[used], pod[used]))]
        first = at[np.flatnonzero(np.append(True, pod[at][1:] != pod[at][:-1]))] if len(at) else at
        key[first] = -(int(size.max(initial=0)) + 1)
    return key


def grounds(tiers: Tiers) -> Iterator[Ground]:
    """The fabric with each tier above the bins as pods, and without pods."""
    bins = tiers.labels[0] if tiers.domain is None else tiers.joined
    above = tiers.labels[1:] if tiers.domain is None else tiers.labels
    hosts = np.lexsort((np.arange(tiers.hosts), bins, *above))
    of = bins[hosts]
    start = np.flatnonzero(np.append(True, of[1:] != of[:-1]))
    size = np.diff(np.append(start, len(hosts)))
    yield Ground(hosts, start, size, np.zeros(len(start), dtype=np.int64))
    for labels in above:
        _, pod = np.unique(labels[hosts[start]], return_inverse=True)
        if 1 < pod.max() + 1 < len(start):
            yield Ground(hosts, start, size, pod.astype(np.int64))
