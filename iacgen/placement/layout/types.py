"""Hosts with different GPUs: whole stages on hosts of one type, as far as there are enough of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice, permutations, product

import numpy as np
from numpy.typing import NDArray

from iacgen.training.traffic import NodeGrid

from ..tiers import Tiers

Order = NDArray[np.int64]
SPLITS = 48  # ways to share stages between the types that are tried, at most


def least_mixed(tiers: Tiers, grid: NodeGrid) -> int:
    """Stages that must mix types, whatever the placement."""
    if tiers.kind is None:
        return 0
    return max(0, grid.pipeline - int((np.bincount(tiers.kind) // grid.row).sum()))


def by_type(tiers: Tiers, grid: NodeGrid, best: Callable[[Tiers, NodeGrid], Order | None]) -> Iterator[Order]:
    """Orders in which each type has stages side by side; ``best`` finds an order for the hosts and stages of one type alone, None where there
    is none. Where that leaves stages over, they go to what is left of all types."""
    if tiers.kind is None or int(tiers.kind.max()) == 0:
        return
    types = [np.flatnonzero(tiers.kind == k) for k in range(int(tiers.kind.max()) + 1)]
    most = [len(hosts) // grid.row for hosts in types]
    whole = grid.pipeline - least_mixed(tiers, grid)
    known: dict[tuple[int, int], Order | None] = {}

    def found(hosts: Order, stages: int) -> Order | None:
        order = best(replace(tiers.only(hosts), kind=None), replace(grid, pipeline=stages))
        return None if order is None else hosts[order]

    def part(k: int, stages: int) -> Order | None:
        if (k, stages) not in known:
            known[k, stages] = found(types[k], stages)
        return known[k, stages]

    splits = (counts for counts in product(*(range(m, -1, -1) for m in most)) if sum(counts) == whole)
    for counts in islice(splits, SPLITS):
        used = [k for k, stages in enumerate(counts) if stages]
        for turn in islice(permutations(used), 6):
            parts = [part(k, counts[k]) for k in turn]
            orders = [order for order in parts if order is not None]
            if whole < grid.pipeline:
                left = np.setdiff1d(np.arange(tiers.hosts), np.concatenate(orders)) if orders else np.arange(tiers.hosts)
                if len(orders) == len(parts) and (rest := found(left, grid.pipeline - whole)) is not None:
                    yield np.concatenate([*orders, rest])
            elif len(orders) == len(parts):
                yield np.concatenate(orders)
