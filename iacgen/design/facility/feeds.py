"""Which feeds a rack hangs on, and what each feed carries while all are there and while one is lost.

A rack with two supplies takes half of its power from each, and all of it from the other when one is lost (the usual behaviour of
redundant supplies; Uptime Institute, Tier Standard: Topology, for N, N+1 and 2N of the feeds).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from .model import Facility, Feeds, Rack


@dataclass(frozen=True)
class FeedLoad:
    """What feed ``number``, from 1, carries in watts: with all feeds there, and at most when another one is lost."""

    number: int
    normal_w: int
    worst_w: int


def pairs(feeds: Feeds) -> tuple[tuple[int, ...], ...]:
    """The feeds of one rack after another, from 0: one where nothing is redundant; a feed of the left half and its counterpart of
    the right half for 2N; for N+1 every pair of feeds in turn, so that the load of a lost one falls on all others alike."""
    n = feeds.count
    if feeds.redundancy == "N" or n == 1:
        return tuple((i,) for i in range(n))
    if feeds.redundancy == "2N":
        return tuple((i, n // 2 + i) for i in range(n // 2))
    return tuple((i, (i + step) % n) for step in range(1, n // 2 + 1) for i in range(n) if step * 2 < n or i < (i + step) % n)


def feeds_of(racks: Sequence[Rack], feeds: Feeds, row_length: int) -> list[tuple[int, ...]]:
    """The feeds of each rack, from 0. They follow from where it stands, so that no other rack changes them."""
    turn = pairs(feeds)
    return [turn[((rack.row - 1) * row_length + rack.place - 1) % len(turn)] for rack in racks]


def loads(facility: Facility) -> tuple[FeedLoad, ...]:
    """What every feed carries; none where no feeds are stated."""
    if facility.feeds is None:
        return ()
    n = facility.feeds.count
    shared = [[0.0] * n for _ in range(n)]  # watts of the racks on feeds i and j; on the diagonal of those on i alone
    for rack, on in zip(facility.racks, feeds_of(facility.racks, facility.feeds, facility.floor.row_length), strict=True):
        shared[on[0]][on[-1]] += rack.power_w
        if len(on) == 2:
            shared[on[1]][on[0]] += rack.power_w
    out = []
    for i in range(n):
        normal = shared[i][i] + sum(shared[i][j] for j in range(n) if j != i) / 2
        worst = normal + max((shared[i][j] for j in range(n) if j != i), default=0) / 2
        out.append(FeedLoad(i + 1, ceil(normal), ceil(worst)))
    return tuple(out)


def dark_w(facility: Facility, lost: int) -> int:
    """Watts of the racks that are without power while feed ``lost``, from 1, is gone."""
    if facility.feeds is None:
        return 0
    on = feeds_of(facility.racks, facility.feeds, facility.floor.row_length)
    return sum(rack.power_w for rack, feeds in zip(facility.racks, on, strict=True) if set(feeds) == {lost - 1})
