"""Hosts of a dragonfly in an order that no shift of ranks turns against one link."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import count

import numpy as np

from .minimal import Network, balanced
from .model import Array

ROUTINGS = 4  # looked at together: which of equally short ways an engine takes hangs on GUIDs that nobody knows yet
MOST_HOSTS = 1536  # beyond, the first deal stands: what is counted here grows with the square of the hosts
SWAPS = 3  # tried at most, for each host
_ONE = np.int16(1)  # of the table's own type: with any other, numpy counts thirty times slower


def scattered(network: Network, switch: Sequence[int]) -> list[int]:
    """Hosts by number, in an order that depends on the cables alone; ``switch`` is the switch of each in ``network``.

    Side by side, all hosts of a group send over its links to the same other group at once: 32 flows on a link at 1,056 hosts
    (p = 4, a = 8, h = 4). Dealt as if by chance, 8 to 10 meet on the busiest link over all shifts. Hosts are then exchanged where
    most meet, over the mean of :data:`ROUTINGS` ways to balance the shortest paths, which leaves 7 or 8 with OpenSM's dfsssp. Rings
    alone are better off side by side.
    """
    dice, hosts = _dice(), range(len(switch))
    order, there = _dealt(len(hosts), dice), np.array(switch, dtype=np.int64)
    if not 2 < len(hosts) <= MOST_HOSTS or len(set(switch)) < 2:
        return order
    numbers = [np.array(_dealt(len(network.beyond), dice)) for _ in range(ROUTINGS)]
    turns = [np.argsort(number[there], kind="stable").tolist() for number in numbers]  # engines go switch by switch
    ways = np.concatenate([balanced(network, there, turn) for turn in turns], axis=-1)
    return Crowds(np.array(order), there, ways, network.beyond.size).thinned(dice).tolist()


class Crowds:
    """Flows on each link at each shift of ``order``, kept while hosts change places. ``ways[s, d]`` are the links from a switch to a
    host, ``links`` for none. A shift and its opposite meet much alike: half of them stand for all."""

    def __init__(self, order: Array, switch: Array, ways: Array, links: int) -> None:
        self.order, self.switch, self.ways, self.width = order, switch, ways, links + 1
        self.shifts = np.arange(1, len(order) // 2 + 1)
        rows = (np.bincount(self._taken(order, np.roll(order, -s)).ravel(), minlength=self.width) for s in self.shifts.tolist())
        self.load = np.array([*rows], dtype=np.int16)
        self.load[:, -1] = 0
        self.flat = self.load.reshape(-1)

    def thinned(self, dice: Iterator[float]) -> Array:
        """The order after exchanges of a host that meets most others for any one, kept where that helps."""
        n, limit = len(self.order), int(self.flat.max(initial=0)) - 1
        left = SWAPS * n
        while left and limit >= 1:
            crowded = np.flatnonzero(self.flat > limit)
            if not len(crowded):
                limit -= 1
                continue
            left -= 1
            row, link = divmod(int(crowded[int(next(dice) * len(crowded))]), self.width)
            s = int(self.shifts[row])
            senders = np.flatnonzero((self._taken(self.order, np.roll(self.order, -s)) == link).any(axis=1))
            one = (int(senders[int(next(dice) * len(senders))]) + s * int(next(dice) * 2)) % n
            self._exchange(one, int(next(dice) * n), limit)
        return self.order

    def _taken(self, near: Array, far: Array) -> Array:
        return self.ways[self.switch[near], far]

    def _exchange(self, one: int, two: int, limit: int) -> None:
        """Let the hosts of two ranks change places, unless more flows are then beyond ``limit``."""
        before = self._cells(one, two)
        self._swap(one, two)
        after = self._cells(one, two)
        both = np.concatenate([before, after])
        crowd = self._beyond(both, limit)
        self._move(before, after)
        if self._beyond(both, limit) > crowd:
            self._move(after, before)
            self._swap(one, two)

    def _swap(self, one: int, two: int) -> None:
        self.order[[one, two]] = self.order[[two, one]]

    def _move(self, out: Array, into: Array) -> None:
        np.subtract.at(self.flat, out, _ONE)
        np.add.at(self.flat, into, _ONE)
        self.load[:, -1] = 0

    def _beyond(self, cells: Array, limit: int) -> tuple[int, int]:
        """(the most in one of these cells, what is beyond the limit in all)."""
        crowd = self.flat[np.unique(cells[self.flat[cells] > limit])].astype(np.int64)
        return int(crowd.max(initial=0)), int((crowd - limit).sum())

    def _cells(self, one: int, two: int) -> Array:
        """Where the flows of two ranks are counted, those between the two once."""
        n, cells = len(self.order), []
        for rank, other in ((one, -1), (two, one)):
            ahead, behind = (rank + self.shifts) % n, (rank - self.shifts) % n
            for partner, ways in ((ahead, self._taken(self.order[[rank]], self.order[ahead])), (behind, self._taken(self.order[behind], self.order[[rank]]))):
                own = partner != other
                cells.append(((self.shifts - 1)[own, None] * self.width + ways[own]).ravel())
        return np.concatenate(cells)


def _dice() -> Iterator[float]:
    """Numbers from 0 to 1, the same ones in the same order at all times: digests of the numbers from 0, behind another number."""
    for turn in count():
        yield int.from_bytes(hashlib.sha256(f"1 {turn}".encode()).digest()[:6]) / 2**48


def _dealt(many: int, dice: Iterator[float]) -> list[int]:
    """The numbers below ``many``, dealt."""
    return sorted(range(many), key=[next(dice) for _ in range(many)].__getitem__)
