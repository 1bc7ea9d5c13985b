"""What a fabric must reach: flows on its busiest link over all shifts, and how many links may be idle.

A tree that holds its promise carries any shift permutation with as many flows on a link as it is oversubscribed: 1 at 1:1 (Zahavi,
Fat-tree routing and node ordering providing contention free traffic for MPI global collectives, Journal of Parallel and
Distributed Computing 72, 2012). Where adapters or whole leaves of a pod are missing, opensm's ftree deals the others unevenly: one
flow more, and in an oversubscribed tree one more at each tier, as measured with opensm 3.3.23. A dragonfly with minimal routes has
few links between two groups, so any order meets on them, a mixed one as if by chance (see chance.py).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import networkx as nx

from .chance import crowd
from .plan import Plan

BALANCED = 3
"""A balanced dragonfly (a = 2 p = 2 h) has a - 1 + h = 3 p - 1 directed links between switches for p adapters. What one has beyond three
for each may carry no route."""


@dataclass(frozen=True)
class Mark:
    """``flows`` at most on any directed link between switches, ``idle`` such links at most without a route; ``why`` in words."""

    flows: int
    idle: int
    why: str


def mark(plan: Plan) -> Mark:
    """The mark for a plan, from its cables and ranks alone."""
    if plan.family == "dragonfly":
        empty = {leaf for leaf in plan.leaves if not plan.taken[leaf]}
        trunks = [link for link in plan.links if link.a in plan.ports]
        idle = 2 * sum(link.a in empty or link.b in empty for link in trunks) + max(0, 2 * len(trunks) - BALANCED * len(plan.adapters))
        return Mark(crowd(plan), idle, "a dragonfly in the order of its ranks")
    if len(+plan.taken) < 2:
        return Mark(1, 2 * len(plan.links), "a tree whose adapters are all on one leaf")
    fills = [*_tiers(plan, plan.ranked)]
    ratio = math.prod(fill.ratio for fill in fills)
    promised = math.ceil(ratio - 1e-9)
    room = sum(fill.room for fill in fills)
    above = 2 * sum(fill.room for fill in fills[1:])  # a link that lacks its pair below may be idle both ways
    idle = next(_tiers(plan, plan.taken)).room * len(fills) + above + _waiting(plan) if fills else 0
    # Routes go by destination: a leaf has use for no more uplinks than there are adapters on other leaves.
    idle += sum(max(0, plan.uplinks[leaf] - (plan.taken.total() - count)) for leaf, count in plan.taken.items())
    kind = f"a {ratio:g}:1 tree"
    if plan.shares_links:
        return Mark(promised + 2, 2 * len(plan.links), f"{kind} whose blueprint lets links be shared")
    if room == 0 or plan.one_unit:
        return Mark(promised, idle, f"{kind} of one unit with room for {room} more" if room else f"{kind} with all its switches full")
    more = 1 if ratio == 1 else len(fills)
    return Mark(promised + more, idle, f"{kind} with room for {room} more links below its switches")


class _Fill(NamedTuple):
    """Of one tier: the most that a switch has below it for one link above, at least 1, and how many links more fit below all."""

    ratio: float
    room: int


def _tiers(plan: Plan, below: Counter[str]) -> Iterator[_Fill]:
    """Every tier but the top one; ``below`` counts what the leaves have."""
    for tier in plan.tiers[:-1]:
        joined = [switch for switch in tier if plan.uplinks[switch]]
        ratio = max([1.0, *(below[switch] / plan.uplinks[switch] for switch in joined)])
        yield _Fill(ratio, sum(max(0, math.floor(ratio * plan.uplinks[switch] + 1e-9) - below[switch]) for switch in joined))
        below = Counter(link.b for link in plan.links if link.a in plan.ports)


def _waiting(plan: Plan) -> int:
    """Directed links to a third tier that waits for a second pod: the switches below it are joined without it."""
    if len(plan.tiers) < 3:
        return 0
    graph = nx.Graph()
    graph.add_nodes_from(name for tier in plan.tiers[:-1] for name in tier)
    upward = {*plan.roots}
    graph.add_edges_from((link.a, link.b) for link in plan.links if link.a in plan.ports and link.b not in upward)
    return 2 * sum(link.b in upward for link in plan.links) if nx.is_connected(graph) else 0
