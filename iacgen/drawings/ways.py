"""The way that traffic takes between two hosts of one rail."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iacgen.design.fabric.model import Joins

from .view import View


@dataclass(frozen=True)
class Way:
    """From host to host, by their numbers in the fabric, over switches by theirs: up, then down. No switch where no way leads."""

    start: int
    end: int
    switches: tuple[int, ...]


def way(view: View, start: int, end: int) -> Way:
    """The shortest way, over the first of the switches that could be at its top."""
    one, two = _climb(view, start), _climb(view, end)
    for height, (left_tier, right_tier) in enumerate(zip(one, two, strict=False)):
        shared = sorted(left_tier & right_tier)
        if shared:
            left, right = (_down(view, side, shared[0], height) for side in (one, two))
            return Way(start, end, (*reversed(left[1:]), shared[0], *right[1:]))
    return Way(start, end, ())


def _climb(view: View, host: int) -> list[frozenset[int]]:
    """The switches within reach of a host, tier by tier."""
    tiers = [_next(view, "host-leaf", frozenset([host]))]
    for joins in ("leaf-spine", "spine-core"):
        above = _next(view, joins, tiers[-1])  # type: ignore[arg-type]
        if above:
            tiers.append(above)
    return tiers


def _next(view: View, joins: Joins, below: frozenset[int]) -> frozenset[int]:
    return frozenset(int(b) for found in view.links if found.joins == joins for b in found.b[np.isin(found.a, list(below))])


def _down(view: View, tiers: list[frozenset[int]], top: int, height: int) -> list[int]:
    """From a switch to the leaf of the host whose climb this is, the first way down at every step."""
    path = [top]
    for level in range(height - 1, -1, -1):
        joins = ("leaf-spine", "spine-core")[level]
        below = [int(a) for found in view.links if found.joins == joins for a in found.a[found.b == path[-1]] if int(a) in tiers[level]]
        path.append(min(below))
    return path
