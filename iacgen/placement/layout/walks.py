"""The virtual nodes of a job in the order in which they are laid along a sequence of hosts: nested tiles.

A walk goes through blocks of ``stages`` stages, in a block through all columns, ``width`` of them at a time, and for these through the
stages of the block; the last block has what is left. So any run of hosts that is a multiple of stages x width holds a rectangle of the
grid. Inside a pod the block may be cut once more, into blocks of ``inner`` stages. Columns are passed in rising order: each ring enters a
switch group once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iacgen.training.traffic import NodeGrid

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Walk:
    """``inner`` divides ``stages``; ``width`` divides a row."""

    stages: int
    inner: int
    width: int

    @property
    def tile(self) -> int:
        """Nodes of the smallest rectangle."""
        return self.inner * self.width

    def cells(self, grid: NodeGrid, takes: Ints) -> Ints:
        """Virtual nodes in the order of the walk; ``takes`` nodes lie in the first pod, in the second, and so on."""
        if self.inner == self.stages and grid.pipeline % self.stages == 0:
            return plain(grid, self.stages, self.width)
        p, column = np.divmod(np.arange(grid.nodes), grid.row)
        block, unit, within = p // self.stages, column // self.width, p % self.stages
        if self.inner == self.stages:
            return np.lexsort((column, within, unit, block))
        height = np.minimum(self.stages, grid.pipeline - block * self.stages)
        first = block * self.stages * grid.row + unit * height * self.width  # where the unit begins in the walk without inner blocks
        pod = np.searchsorted(np.cumsum(takes), first, "right")
        return np.lexsort((column, within, unit, within // self.inner, pod, block))


def plain(grid: NodeGrid, stages: int, width: int) -> Ints:
    """The walk without inner blocks, where ``stages`` divides the pipeline. ``plain(grid, 1, 1)`` is 0, 1, 2, ..."""
    cells = np.arange(grid.nodes).reshape(grid.pipeline // stages, stages, grid.row // width, width)
    return cells.transpose(0, 2, 1, 3).ravel()


def walks(grid: NodeGrid, rows: Iterable[int] = ()) -> list[Walk]:
    """All that keep tensor groups together, plain ones first; ``rows`` that a set of hosts can hold are tried as stages too."""
    group, context = grid.tensor, grid.tensor * grid.context
    widths = [w for w in sorted({group, context, grid.apart, grid.expert, context * grid.expert}) if grid.row % w == 0 and w % group == 0]
    heights = sorted({*divisors(grid.pipeline), *(n for n in rows if 1 < n < grid.pipeline)})
    found = [Walk(stages, inner, width) for stages in heights for inner in divisors(stages) for width in widths]
    return sorted(found, key=lambda w: w.inner != w.stages)


def divisors(n: int) -> list[int]:
    """Of a positive number, in rising order."""
    return [d for d in range(1, n + 1) if n % d == 0]
