"""How few rows and columns of a job's grid must be cut when so many of its nodes lie together.

Let a set hold n of the R x P nodes of a grid of P rows and R columns, and cut x rows and y columns: these lie partly inside. If one
row is wholly inside and another wholly outside, every column is cut. Else, without a row that is wholly outside, all that is missing
lies in cut rows and cut columns, so x * y >= R * P - n; without one that is wholly inside, all that is there does, so x * y >= n.
If all rows are cut, columns need not be, where P divides n.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
NONE = np.iinfo(np.int64).max // 4
"""Stands for: not possible."""


def columns_cut(width: int, rows: int, inside: Ints) -> Ints:
    """``out[i, x]``: the fewest columns of a grid of ``rows`` rows of ``width`` nodes that are cut when ``inside[i]`` nodes lie in the set
    and x rows, from none to all, are cut; ``NONE`` where that cannot be."""
    n, x = inside[:, None], np.arange(rows + 1)[None]
    total = width * rows
    few = np.maximum(np.minimum(n, total - n), 0)
    need = np.where(x > 0, -(-few // np.maximum(x, 1)), NONE)
    out = np.where((x < rows) & (x > 0), np.minimum(need, width), NONE)
    out = np.where(x == 0, np.where(n % width == 0, width, NONE), out)
    out = np.where(x == rows, np.where(n % rows == 0, 0, 1), out)
    if width == 1:  # a row of one node is never cut
        out = np.where(x > 0, NONE, 1)
    if rows == 1:  # nor is such a column
        out = np.where(out < NONE, 0, out)
    some = (n == 0) | (n == total)
    return np.where(some, np.where(x == 0, 0, NONE), out)


def shards_cut(size: int, copies: int, inside: Ints) -> tuple[Ints, Ints, Ints]:
    """(index into ``inside``, shard groups cut, rings between them cut), one entry for each way in which so many nodes of ``copies`` groups of
    ``size`` nodes can lie in a set: as few rings as there can be for so many groups, or the other way round."""
    few, many = sorted((size, copies))
    cut = columns_cut(many, few, inside)
    at, few_cut = np.nonzero(cut < NONE)
    many_cut = cut[at, few_cut]
    return (at, many_cut, few_cut) if size <= copies else (at, few_cut, many_cut)
