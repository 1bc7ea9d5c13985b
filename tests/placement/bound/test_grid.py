"""Rows and columns that must be cut, against every subset of small grids."""

from __future__ import annotations

import numpy as np
import pytest

from iacgen.placement.bound.grid import NONE, columns_cut, shards_cut


def fewest(width: int, rows: int) -> dict[tuple[int, int], int]:
    """(nodes inside, rows cut) → fewest columns cut, by trying every subset."""
    least: dict[tuple[int, int], int] = {}
    for subset in range(1 << (width * rows)):
        inside = np.array([(subset >> i) & 1 for i in range(width * rows)]).reshape(rows, width)
        cut_rows = int(((inside.sum(axis=1) > 0) & (inside.sum(axis=1) < width)).sum())
        cut_columns = int(((inside.sum(axis=0) > 0) & (inside.sum(axis=0) < rows)).sum())
        key = int(inside.sum()), cut_rows
        least[key] = min(least.get(key, NONE), cut_columns)
    return least


@pytest.mark.parametrize(("width", "rows"), [(w, r) for w in range(1, 5) for r in range(1, 5) if w * r <= 12])
def test_no_subset_cuts_less_and_some_subset_cuts_as_little(width, rows):
    least = fewest(width, rows)
    counted = columns_cut(width, rows, np.arange(width * rows + 1))
    for (inside, cut), columns in least.items():
        assert counted[inside, cut] <= columns, (inside, cut)
    for inside in range(width * rows + 1):
        for cut in range(rows + 1):
            if (said := counted[inside, cut]) < NONE:
                assert any(least.get((inside, x), NONE) <= said for x in range(cut + 1)), (inside, cut)


@pytest.mark.parametrize(("size", "copies"), [(s, c) for s in range(2, 5) for c in range(2, 5) if s * c <= 12])
def test_no_subset_cuts_fewer_shard_groups_and_rings_between_them(size, copies):
    """Whatever groups (rows of the small grid) and rings (its columns) a subset cuts, some entry has as few of both."""
    at, groups, rings = shards_cut(size, copies, np.arange(size * copies + 1))
    ways = list(zip(at.tolist(), groups.tolist(), rings.tolist(), strict=True))
    for (inside, cut), columns in fewest(size, copies).items():
        assert any(n == inside and g <= cut and r <= columns for n, g, r in ways), (inside, cut)
