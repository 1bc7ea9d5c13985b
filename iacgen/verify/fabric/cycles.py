"""Channel dependencies: which link waits for which, lane by lane. A cycle of them can stop the fabric for good.

A packet that holds a channel and asks for the next one makes the first depend on the second; routing is free of deadlock where the
dependencies of each lane have no cycle (Dally and Seitz, Deadlock-free message routing in multiprocessor interconnection networks,
IEEE Transactions on Computers C-36, 1987).
"""

from __future__ import annotations

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from .routes import Lanes, Routes


def cycle(routes: Routes, lanes: Lanes | None = None) -> tuple[int, list[tuple[str, int]]] | None:
    """(lane, channels of one cycle in it), or None. ``lanes[s, d]`` is the lane of adapter s's packets to d; None is one lane for all."""
    if lanes is None:
        found = _one(routes, routes.sources > 0)
        return None if found is None else (0, found)
    for lane in sorted({int(lane) for lane in np.unique(lanes)} - {-1}):
        found = _one(routes, _pairs(routes, lanes == lane))
        if found is not None:
            return lane, found
    return None


def _pairs(routes: Routes, mine: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The (leaf, destination) pairs of which a (source, destination) pair is marked; an adapter's own leaf has no channel to it."""
    marked = np.zeros((len(routes.leaves), len(routes.adapters)), dtype=bool)
    np.logical_or.at(marked, routes.leaf, mine)
    return marked


def _one(routes: Routes, taken: NDArray[np.bool_]) -> list[tuple[str, int]] | None:
    count = len(routes.channels)
    arcs = [np.empty(0, dtype=np.int64)]
    for held, asked in zip(routes.steps, routes.steps[1:], strict=False):
        both = taken & (held >= 0) & (asked >= 0)
        arcs.append(np.unique(held[both].astype(np.int64) * count + asked[both]))
    every = np.unique(np.concatenate(arcs))
    graph = nx.DiGraph(zip((every // count).tolist(), (every % count).tolist(), strict=True))
    if nx.is_directed_acyclic_graph(graph):
        return None
    return [routes.channels[held] for held, _ in nx.find_cycle(graph)]
