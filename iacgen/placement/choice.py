"""The cheapest of the orders worth trying."""

from __future__ import annotations

from collections.abc import Mapping

from iacgen.training.traffic import NodeGrid, Traffic

from .assumptions import EXPOSED
from .cost import Order, cost, whole
from .model import Cost, Family
from .order import as_they_come, candidates
from .tiers import Tiers

CLOSE = 1.01
"""Candidates within this factor of the least time count as equally fast: then the fewest bytes over switches decide."""


def choose(tiers: Tiers, grid: NodeGrid, traffic: Traffic, exposed: Mapping[Family, float] = EXPOSED) -> tuple[Order, Cost, Cost]:
    """(best order, its cost, cost of the hosts as they come). Raises ValueError when there are too few hosts, LookupError when
    each order splits a tensor group between NVLink domains. Where the hosts as they come do, the last candidate stands for them.

    Of the orders within ``CLOSE`` of the least time, and not above the hosts as they come, the one that sends the fewest bytes
    over switches wins, upper tiers first; then the faster one; then the plainer one.
    """
    orders = list(candidates(tiers, grid))
    if not orders:
        raise LookupError("no order keeps each tensor group to one NVLink domain")
    costs = [cost(tiers, grid, traffic, order, exposed) for order in orders]
    plain = as_they_come(grid)
    by_name = cost(tiers, grid, traffic, plain if whole(tiers, grid, plain) else orders[-1], exposed)
    limit = min(CLOSE * min(c.total_s for c in costs), by_name.total_s)
    close = [i for i, c in enumerate(costs) if c.total_s <= limit]
    best = min(close, key=lambda i: (*(_rounded(b) for b in reversed(costs[i].bytes_by_tier)), _rounded(costs[i].total_s), i))
    return orders[best], costs[best], by_name


def _rounded(value: float) -> float:
    """Nine digits, so that the order of a sum decides nothing."""
    return float(f"{value:.9g}")
