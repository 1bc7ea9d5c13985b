"""Orders worth trying: which hosts stay idle, and how the job's grid is laid along the rest.

Hosts of one leaf group are equal, so an order is a sequence of hosts, leaf group by leaf group, and a walk over the grid that is
laid along it. The walk goes through blocks of stages; inside a block it fills whole column pieces, so that a tile of ``stages`` x
``columns`` virtual nodes sits on consecutive hosts. Every walk passes the columns in rising order, so each data ring enters a
leaf group once. A leaf group whose size is no multiple of the tile would shift every later tile over a border; its surplus
hosts go to the end of the sequence, where they idle first.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from iacgen.training.traffic import NodeGrid

from .cost import Order, whole
from .tiers import Tiers


def candidates(tiers: Tiers, grid: NodeGrid) -> Iterator[Order]:
    """Orders in the sense of ``cost``, each once: topological first, the hosts as they come (sorted names) last; none that splits a tensor
    group between NVLink domains.

    Raises ValueError when there are fewer hosts than virtual nodes.
    """
    if tiers.hosts < grid.nodes:
        raise ValueError(f"{grid.nodes} virtual nodes on {tiers.hosts} hosts")
    seen = set()
    for order in _all(tiers, grid):
        key = order.tobytes()
        if key not in seen and whole(tiers, grid, order):
            seen.add(key)
            yield order


def _all(tiers: Tiers, grid: NodeGrid) -> Iterator[Order]:
    row, group, context = grid.row, grid.tensor, grid.tensor * grid.context
    widths = [w for w in sorted({group, context, grid.expert, context * grid.expert}) if row % w == 0 and w % group == 0]
    pieces = [(stages, width) for stages in _divisors(grid.pipeline) for width in widths]
    for stages, width in pieces:
        cells = walk(grid, stages, width)
        for unit in sorted({group, width, stages * width, stages * row}):
            for biggest_first in (False, True):
                order = np.empty(grid.nodes, dtype=np.int64)
                order[cells] = sequence(tiers, unit, biggest_first)[: grid.nodes]
                yield order
    yield as_they_come(grid)


def as_they_come(grid: NodeGrid) -> Order:
    """Virtual node v on host v."""
    return np.arange(grid.nodes)


def walk(grid: NodeGrid, stages: int, columns: int) -> Order:
    """Virtual nodes in the order in which they are laid: tiles of ``stages`` x ``columns``, columns first, then the next block.

    Both must divide the grid. ``walk(grid, 1, 1)`` is 0, 1, 2, ...
    """
    row = grid.row
    cells = np.arange(grid.nodes).reshape(grid.pipeline // stages, stages, row // columns, columns)
    return cells.transpose(0, 2, 1, 3).ravel()


def sequence(tiers: Tiers, unit: int = 1, biggest_first: bool = False) -> Order:
    """All hosts, leaf group by leaf group; of each (of each NVLink domain, where these join several hosts) the largest multiple of ``unit``,
    the surplus of all at the end.

    Groups come in the order of the fabric, or those with the most such hosts first, upper tiers before lower ones.
    """
    leaf = tiers.labels[0] if tiers.domain is None else tiers.domain
    by_leaf = np.argsort(leaf, kind="stable")
    sizes = np.bincount(leaf)
    position = np.empty(tiers.hosts, dtype=np.int64)
    position[by_leaf] = np.arange(tiers.hosts) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    surplus = position >= (sizes - sizes % unit)[leaf]
    keys = [np.arange(tiers.hosts)]
    for labels in tiers.labels if tiers.domain is None else (tiers.domain, *tiers.labels):
        keys.append(labels)
        if biggest_first:
            keys.append(-np.bincount(labels, ~surplus)[labels])
    return np.lexsort((*keys, surplus))


def _divisors(n: int) -> list[int]:
    return [d for d in range(1, n + 1) if n % d == 0]
