"""What a fabric must reach: flows on its busiest link over all shifts, and how many links may be idle.

A tree that holds its promise carries any shift permutation with as many flows on a link as it is oversubscribed: 1 at 1:1 (Zahavi,
Fat-tree routing and node ordering providing contention free traffic for MPI global collectives, Journal of Parallel and
Distributed Computing 72, 2012). Where adapters are missing, opensm's ftree deals the others unevenly: one flow more, as measured with
opensm 3.3.23. A dragonfly with minimal routes has one link between two groups, so any order meets on it.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import networkx as nx

from .plan import Plan

DRAGONFLY_SHARE = 0.75
"""Flows on a dragonfly's busiest link, of the binary logarithm of its hosts: 8 at 1,056 (p=4, a=8, h=4), where the order of the leaves
has 32, and 5 at 72 (p=2, a=4, h=2), where it has 8. Orders that mix the groups reach 6 to 9 and 4 to 5 (opensm 3.3.23). Where a
host has several adapters on one router, their flows go side by side, and count as often."""
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
        beside = Counter((adapter.rpartition(" ")[0], plan.leaf_of[adapter]) for adapter in plan.order)
        flows = math.ceil(DRAGONFLY_SHARE * math.log2(max(2, len({host for host, _ in beside}))))
        empty = {leaf for leaf in plan.leaves if not plan.taken[leaf]}
        trunks = [link for link in plan.links if link.a in plan.ports]
        idle = 2 * sum(link.a in empty or link.b in empty for link in trunks) + max(0, 2 * len(trunks) - BALANCED * len(plan.adapters))
        return Mark(flows * max(beside.values(), default=1), idle, "a dragonfly in the order of its ranks")
    ratio = _ratio(plan)
    promised = math.ceil(ratio)
    missing, unranked = (_missing(plan, on) for on in (plan.taken, plan.ranked))
    idle = missing * max(1, len(plan.tiers) - 1) + _waiting(plan)
    kind = "1:1" if ratio == 1 else f"{ratio:g}:1"
    if unranked == 0 or plan.one_unit:
        return Mark(promised, idle, f"a {kind} tree" + (f" of one unit with room for {unranked} more" if unranked else " with all its leaves full"))
    return Mark(promised + 1, idle, f"a {kind} tree with room for {unranked} more adapters")


def _ratio(plan: Plan) -> float:
    """Oversubscription of the whole tree: the product over its tiers of the most that a switch has below it for one link above."""
    ratio = 1.0
    below: Counter[str] = plan.ranked
    for tier in plan.tiers[:-1]:
        ratio *= max([1.0, *(below[switch] / plan.uplinks[switch] for switch in tier if plan.uplinks[switch])])
        below = Counter(link.b for link in plan.links if link.a in plan.ports)
    return ratio


def _missing(plan: Plan, on: Counter[str]) -> int:
    """Adapters that fit on the leaves without raising the oversubscription of any above that of the fullest."""
    fullest = max([1.0, *(on[leaf] / plan.uplinks[leaf] for leaf in plan.leaves if plan.uplinks[leaf])])
    return sum(max(0, math.floor(fullest * plan.uplinks[leaf] + 1e-9) - on[leaf]) for leaf in plan.leaves)


def _waiting(plan: Plan) -> int:
    """Directed links to a third tier that waits for a second pod: the switches below it are joined without it."""
    if len(plan.tiers) < 3:
        return 0
    graph = nx.Graph()
    graph.add_nodes_from(name for tier in plan.tiers[:-1] for name in tier)
    upward = {*plan.roots}
    graph.add_edges_from((link.a, link.b) for link in plan.links if link.a in plan.ports and link.b not in upward)
    return 2 * sum(link.b in upward for link in plan.links) if nx.is_connected(graph) else 0
