"""The cheapest of the orders worth trying, and how far from the best any order can be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np

from iacgen.training.traffic import NodeGrid, Traffic

from .assumptions import EXPOSED
from .bound import lower_bound
from .cost import Order, cost, whole
from .enumerate import enumerated
from .layout import candidates
from .layout.candidates import as_they_come
from .layout.ports import in_port_order
from .layout.spread import in_turn, spread
from .layout.types import by_type, least_mixed
from .model import Bound, Cost, Family
from .polish import MOST_NODES, STARTS, polished
from .tiers import Tiers

SAME = 1 + 1e-9
"""Orders within this factor of the least time count as equally fast."""
ENOUGH = 4_000_000
"""Virtual nodes of all orders scored, after which the first order that reaches the bound is taken."""
FEW = 200_000
"""Assignments of nodes to switch groups up to which all are tried."""


@dataclass(frozen=True)
class Choice:
    """An order (virtual node v on host ``order[v]``), what it costs, what the hosts as they come cost, a time that no order beats, and how
    many orders were scored."""

    order: Order
    cost: Cost
    by_name: Cost
    bound: Bound
    tried: int


def choose(tiers: Tiers, grid: NodeGrid, traffic: Traffic, exposed: Mapping[Family, float] = EXPOSED) -> Choice:
    """The best order found. Raises ValueError when there are too few hosts, LookupError when each order splits a tensor group between
    NVLink domains. Where the hosts as they come do, the topological order stands for them.

    Of orders that are equally fast the one that mixes the fewest stages of two GPU types wins (that comes before time), then the one that leaves
    a host to spare in most pods that it uses, then the one that sends the fewest bytes over switches, upper tiers first, then the plainer one.
    """
    bound = lower_bound(tiers, grid, traffic, exposed)
    best, first, scored, must_mix = None, None, 0, least_mixed(tiers, grid)
    ranking: list[tuple[tuple[float, ...], int, Order]] = []  # the best few of a small job
    for order in _orders(tiers, grid, traffic, exposed):
        found = _Scored.of(tiers, grid, traffic, order, exposed)
        first = first or found
        scored += 1
        if best is None or found.key() < best.key():
            best = found
        if grid.nodes <= MOST_NODES:
            ranking = sorted([*ranking, (found.key(), scored, order)])[:STARTS]
        if best.mixed == must_mix and bound.proves(best.cost.total_s) and (scored * grid.nodes > ENOUGH or best.ideal):
            break
    if best is None or first is None:
        raise LookupError("no order keeps each tensor group to one NVLink domain")
    plain = as_they_come(grid)
    by_name = cost(tiers, grid, traffic, plain, exposed) if whole(tiers, grid, plain) else first.cost
    if not bound.proves(best.cost.total_s):
        best, bound, scored = _small(tiers, grid, traffic, exposed, best, [order for _, _, order in ranking] or [best.order], bound, scored)
    return Choice(in_port_order(tiers, grid, best.order), best.cost, by_name, bound, scored)


def _orders(tiers: Tiers, grid: NodeGrid, traffic: Traffic, exposed: Mapping[Family, float]) -> Iterator[Order]:
    def quickest(some: Tiers, part: NodeGrid) -> Order | None:
        return min(candidates(some, part), key=lambda order: _rounded(cost(some, part, traffic, order, exposed).total_s), default=None)

    yield from candidates(tiers, grid)
    others = chain(spread(tiers, grid, traffic, exposed), in_turn(tiers, grid), by_type(tiers, grid, quickest))
    yield from (order for order in others if whole(tiers, grid, order))


@dataclass(frozen=True)
class _Scored:
    order: Order
    cost: Cost
    mixed: int
    lone: int

    @staticmethod
    def of(tiers: Tiers, grid: NodeGrid, traffic: Traffic, order: Order, exposed: Mapping[Family, float]) -> _Scored:
        return _Scored(order, cost(tiers, grid, traffic, order, exposed), mixed_stages(tiers, grid, order), _without_spare(tiers, order))

    @property
    def ideal(self) -> bool:
        """Whether only a faster order, or one that mixes fewer stages, could be better."""
        return not (self.lone or any(self.cost.bytes_by_tier))

    def key(self) -> tuple[float, ...]:
        """Nine digits of the time, so that the order of a sum decides nothing."""
        return (self.mixed, _rounded(self.cost.total_s), self.lone, *(_rounded(b) for b in reversed(self.cost.bytes_by_tier)))


def _small(
    tiers: Tiers, grid: NodeGrid, traffic: Traffic, exposed: Mapping[Family, float], best: _Scored, starts: list[Order], bound: Bound, scored: int
) -> tuple[_Scored, Bound, int]:
    """What is known better of small jobs: the best of all orders, or of those that exchanges lead to."""
    if tiers.kind is not None:  # exchanges would mix stages
        return best, bound, scored
    if tried := enumerated(tiers, grid, traffic, exposed, FEW):
        order, found = tried
        why = "all orders that differ were tried"
        better = _Scored.of(tiers, grid, traffic, order, exposed) if found.total_s * SAME < best.cost.total_s else best
        return better, Bound(found.total_s, bound.tier, bound.switch, why, "enumerated"), scored
    order, count = polished(tiers, grid, traffic, exposed, starts, bound.seconds)
    better = _Scored.of(tiers, grid, traffic, order, exposed)
    return (better if better.cost.total_s * SAME < best.cost.total_s else best), bound, scored + count


def mixed_stages(tiers: Tiers, grid: NodeGrid, order: Order) -> int:
    """Stages whose nodes are of more than one type of GPU."""
    if tiers.kind is None:
        return 0
    rows = tiers.kind[order].reshape(grid.pipeline, grid.row)
    return int((rows != rows[:, :1]).any(axis=1).sum())


def _without_spare(tiers: Tiers, order: Order) -> int:
    """Pods of the top tier that the job uses up to the last host, though it leaves hosts idle."""
    if tiers.hosts == len(order) or len(tiers.groups[-1]) < 2:
        return 0
    pods = tiers.labels[-1]
    used = np.bincount(pods[order], minlength=len(tiers.groups[-1]))
    return int(((used > 0) & (used == np.bincount(pods, minlength=len(used)))).sum())


def _rounded(value: float) -> float:
    """Nine digits, so that the order of a sum decides nothing."""
    return float(f"{value:.9g}")
