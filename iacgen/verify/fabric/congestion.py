"""How many flows meet on a link: over all shift permutations of an order of ranks, and for any list of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .routes import Routes


@dataclass(frozen=True)
class Shifts:
    """Over the shifts s of an order, where rank i sends to rank i + s: ``worst`` flows on one directed link between switches, first
    met at ``shift`` on the link from ``switch`` by ``port``; ``clean`` of ``total`` shifts have at most one flow on every link."""

    worst: int
    shift: int
    switch: str
    port: int
    clean: int
    total: int


def shifts(routes: Routes, order: Sequence[str]) -> Shifts:
    """All shifts of the adapters of ``order``. A shift permutation is what one step of an all-to-all does, and shift 1 a ring."""
    ranks = np.array([routes.index[name] for name in order], dtype=np.int64)
    worst, at, busiest, clean = 0, 0, -1, 0
    for s in range(1, len(ranks)):
        load = flows(routes, ranks, np.roll(ranks, -s))
        most = int(load.max(initial=0))
        clean += most <= 1
        if most > worst:
            worst, at, busiest = most, s, int(load.argmax())
    switch, port = routes.channels[busiest] if busiest >= 0 else ("", 0)
    return Shifts(worst, at, switch, port, clean, max(0, len(ranks) - 1))


def flows(routes: Routes, near: NDArray[np.int64], far: NDArray[np.int64]) -> NDArray[np.int64]:
    """Flows on each channel when adapter ``near[i]`` sends to ``far[i]``, all at once."""
    taken = routes.steps[:, routes.leaf[near], far]
    return np.bincount(taken[taken >= 0], minlength=len(routes.channels))
