"""What follows from the cuts by counting: so many nodes in a set cut so many rows and columns (``bound.grid``).

Nothing is added to the program but what a solver would have to find by itself, set by set. It makes the proofs of small jobs, of which
most hosts are taken, two to seven times as quick; those of larger ones, where rows lie whole in leaf groups, it makes slower.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from iacgen.placement.bound.grid import columns_cut

from .cuts import Cuts, Literal, Set

NODES = 64
"""Jobs up to which it pays (measured on jobs of 12 to 128 nodes)."""


def count_rows_and_columns(cuts: Cuts) -> None:
    """For each switch group: a triple of the nodes in it, the rows and the columns it cuts that no placement can go below."""
    grid = cuts.grid
    if grid.apart > 1 or grid.nodes > NODES or grid.pipeline == 1 or grid.row == 1:
        return
    for members in dict.fromkeys(members for sets in cuts.tiers for members in sets.values()):
        if not cuts.split(members):
            _count(cuts, members)


def _count(cuts: Cuts, members: Set) -> None:
    model, grid = cuts.model, cuts.grid
    cap = min(int(cuts.held.sizes[list(members)].sum()), grid.nodes)
    rows = np.arange(grid.nodes).reshape(grid.pipeline, grid.row)
    inside, rows_cut, fewest = (model.new_int_var(0, most, "") for most in (cap, grid.pipeline, grid.row))
    model.add(inside == sum(cuts.within(members)))
    model.add(rows_cut == sum(_touched(cuts, ([cuts.leaves(edge, members) for edge in zip(r, np.roll(r, -1).tolist(), strict=True)] for r in rows.tolist()))))
    model.add(fewest <= sum(_touched(cuts, ([cuts.cut(edge, members) for edge in zip(c, c[1:], strict=False)] for c in rows.T.tolist()))))
    least = columns_cut(grid.row, grid.pipeline, np.arange(cap + 1))
    model.add_allowed_assignments([inside, rows_cut, fewest], [(*at, int(y)) for at, y in np.ndenumerate(least) if y <= grid.row])


def _touched(cuts: Cuts, lines: Iterable[list[Literal]]) -> list[Literal]:
    """Of lines of edges, whether any is cut."""
    out = []
    for edges in lines:
        cut = cuts.model.new_bool_var("")
        cuts.model.add(sum(edges) >= cut)
        for edge in edges:
            cuts.model.add_implication(edge, cut)
        out.append(cut)
    return out
