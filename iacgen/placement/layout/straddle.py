"""Expert groups that fit into no leaf group whole: cut evenly, into two parts that differ by two hosts at most.

The slowest member of an exchange is one whose part is small: it sends nearly all over the switches above. So each bin is cut into whole
groups, halves, and parts one host larger or smaller than a half, of which a pod must have as many larger ones as smaller ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from .seats import Ground, Seats

Ints = NDArray[np.int64]
Parts = tuple[int, int, int]
"""How many parts of a bin are smaller than a half, halves, larger than a half."""
_MOST = 3  # of each in one bin


def straddled(ground: Ground, nodes: int, size: int) -> Iterator[Seats]:
    """Hosts for groups of ``size``, side by side; nothing where groups are odd or too few of them find room."""
    if size % 2 or size < 2:
        return
    for skew in (0, 1)[: 1 + (size > 2)]:
        found = [_cut(ground.size[ground.pod == p], size, skew) for p in range(ground.pods)]
        room = [size * sum(_whole(c, size, parts) for c, parts in zip(ground.size[ground.pod == p], cut, strict=True)) + _shared(cut, size) for p, cut in enumerate(found)]
        if sum(room) < nodes:
            continue
        takes = np.clip(nodes - (np.cumsum(room) - room), 0, room)
        hosts = [_laid(ground, np.flatnonzero(ground.pod == p), size, cut)[: takes[p]] for p, cut in enumerate(found)]
        yield Seats(np.concatenate(hosts), takes[takes > 0])


def _sizes(size: int) -> Parts:
    return size // 2 - 1, size // 2, size // 2 + 1


def _whole(hosts: int, size: int, parts: Parts) -> int:
    return (int(hosts) - _used(parts, size)) // size


def _used(parts: Parts, size: int) -> int:
    return sum(n * part for n, part in zip(parts, _sizes(size), strict=True))


def _shared(cut: list[Parts], size: int) -> int:
    return sum(_used(parts, size) for parts in cut)


def _cut(sizes: Ints, size: int, skew: int) -> list[Parts]:
    """For each bin its parts, so that most hosts of the pod are used: as many larger as smaller parts and an even number of halves in all."""
    options = [(a, b, c) for a, b, c in product(range(_MOST + 1), repeat=3) if skew or a == c == 0]
    best: dict[tuple[int, int], tuple[int, tuple[Parts, ...]]] = {(0, 0): (0, ())}
    for hosts in sizes.tolist():
        after: dict[tuple[int, int], tuple[int, tuple[Parts, ...]]] = {}
        fitting = _fitting(hosts, size, options)
        for (balance, odd), (used, chosen) in best.items():
            for parts, here in fitting:
                key = balance + parts[2] - parts[0], (odd + parts[1]) % 2
                if abs(key[0]) <= 2 * _MOST and (key not in after or after[key][0] < used + here):
                    after[key] = used + here, (*chosen, parts)
        best = after
    return list(best[0, 0][1]) if (0, 0) in best else [(0, 0, 0)] * len(sizes)


def _fitting(hosts: int, size: int, options: list[Parts]) -> list[tuple[Parts, int]]:
    """Parts that leave fewest hosts of a bin idle for each balance and parity, the fewest parts first."""
    found: dict[tuple[int, int], tuple[int, int, Parts]] = {}
    for parts in options:
        left = hosts - _used(parts, size)
        if left >= 0:
            used, many = hosts - left % size, sum(parts)
            key = parts[2] - parts[0], parts[1] % 2
            if key not in found or (-used, many) < found[key][:2]:
                found[key] = -used, many, parts
    return [(parts, -used) for used, _, parts in sorted(found.values())]


def _laid(ground: Ground, bins: Ints, size: int, cut: list[Parts]) -> Ints:
    """Whole groups bin by bin; then larger parts, each beside a smaller one; then halves by twos."""
    hosts: list[Ints] = []
    shared: list[list[Ints]] = [[], [], []]
    for b, parts in zip(bins.tolist(), cut, strict=True):
        start, whole = int(ground.start[b]), size * _whole(int(ground.size[b]), size, parts)
        hosts.append(ground.hosts[start : start + whole])
        at = start + whole
        for kind, (many, part) in enumerate(zip(parts, _sizes(size), strict=True)):
            for _ in range(many):
                shared[kind].append(ground.hosts[at : at + part])
                at += part
    for small, large in zip(shared[0][::-1], shared[2], strict=True):
        hosts += [large, small]
    hosts += shared[1]
    return np.concatenate(hosts) if hosts else np.empty(0, dtype=np.int64)
