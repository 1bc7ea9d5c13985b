"""Hosts of a dragonfly in an order that no shift of ranks turns against one link."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from .model import Array

TRIES = 8  # of so many scatterings the one with the least congestion; at 1,056 hosts one try meets 7 to 9 flows
MOST_SHIFTS = 512  # looked at, spread over all


def scattered(hosts: Sequence[str], groups: Array) -> tuple[str, ...]:
    """The hosts, ordered by a digest of their names; ``groups`` gives the group of each, counted from 0.

    Side by side, all hosts of a group send over its links to the same other group at once. Scattered they meet as chance has it:
    at 1,056 hosts (p = 4, a = 8, h = 4) 7 flows on a link instead of 32, over all shift permutations. Rings alone are better off
    side by side.
    """
    digests = (sorted(range(len(hosts)), key=lambda i: hashlib.sha256(f"{salt} {hosts[i]}".encode()).digest()) for salt in range(TRIES))
    order = min(digests, key=lambda order: congestion(groups[order]))
    return tuple(hosts[i] for i in order)


def congestion(groups: Array) -> int:
    """Most flows from one group to one other, over shifts of ranks on hosts of these groups. A shift and its opposite meet alike."""
    n, count = len(groups), int(groups.max(initial=0)) + 1
    shifts = np.unique(np.linspace(1, n // 2, min(n // 2, MOST_SHIFTS)).astype(int)) if n > 1 else ()
    worst = 0
    for shift in shifts:
        to = np.roll(groups, -shift)
        away = groups != to
        worst = max(worst, int(np.bincount(groups[away] * count + to[away], minlength=1).max()))
    return worst
