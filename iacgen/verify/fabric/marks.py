"""What a fabric must reach: flows on its busiest link over all shifts, and how many links may be idle.

Routes go by destination. A shift sends the ranks of a leaf to as many that follow each other, and a tree that deals destinations in
turn over its uplinks carries them with as many flows on a link as it is oversubscribed, 1 at 1:1 (Zahavi, Fat-tree routing and node
ordering providing contention free traffic for MPI global collectives, Journal of Parallel and Distributed Computing 72, 2012). What
that rests on is that one run of destinations goes on where the other ended:

* Of tiers with r1, r2, ... links below for one above, a link has ceil(r1), then ceil(r2 ceil(r1)), ... flows.
* Where a switch's links do not divide what is below it, a run that leaves one leaf and enters the next is dealt in two parts:
  ceil(a/u) + ceil(b/u) is at most one more than ceil((a + b)/u). So too in two tiers where adapters are missing, and a run may enter
  as many leaves as lie below its length, a part dealt apart for each: they are counted, shift by shift.
* In three tiers pods take runs that are not in turn there (of a host's adapters on as many leaves all may have one core's link).
  Where adapters are missing, the end of one pod and the next pod are dealt apart: each at most as above, together twice that.

A link is of no use down to where nobody is, nor up where all others lack the same. opensm 3.3.23 keeps to all of it (tests/verify/fabric),
and reaches most of it. A dragonfly with minimal routes has few links between two groups, so any order meets on them, a mixed one as if by
chance (see chance.py).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import networkx as nx
import numpy as np

from .chance import crowd
from .plan import Plan

BALANCED = 3
"""A balanced dragonfly (a = 2 p = 2 h) has a - 1 + h = 3 p - 1 directed links between switches for p adapters. What one has beyond three
for each may carry no route."""

_CELLS = 1_000_000
"""Numbers that are counted at a time."""


@dataclass(frozen=True)
class Mark:
    """``flows`` at most on any directed link between switches, ``idle`` such links at most without a route; ``why`` in words."""

    flows: int
    idle: int
    why: str


def mark(plan: Plan, listed: bool = False) -> Mark:
    """The mark for a plan, from its cables and ranks alone. Where the manager is ``listed`` the ports that compute, it deals links to those
    alone: what another port has above it may carry no route."""
    if plan.family == "dragonfly":
        empty = {leaf for leaf in plan.leaves if not plan.taken[leaf]}
        trunks = [link for link in plan.links if link.a in plan.ports]
        idle = 2 * sum(link.a in empty or link.b in empty for link in trunks) + max(0, 2 * len(trunks) - BALANCED * len(plan.adapters))
        return Mark(crowd(plan), idle, "a dragonfly in the order of its ranks")
    if len(+plan.taken) < 2:
        return Mark(1, 2 * len(plan.links), "a tree whose adapters are all on one leaf")
    fills = [*_tiers(plan, plan.ranked)]
    ratio = math.prod(fill.ratio for fill in fills)
    kind = f"a {ratio:g}:1 tree"
    if plan.shares_links:
        return Mark(math.ceil(ratio - 1e-9) + 2, 2 * len(plan.links), f"{kind} whose blueprint lets links be shared")
    room = sum(fill.room for fill in fills)
    why = f"{kind}{' of one unit' if plan.one_unit else ''} with {f'room for {room} more links below its switches' if room else 'all its switches full'}"
    flows = _flows(fills[1:] if plan.one_unit else fills, fills)
    if len(plan.tiers) == 2 and room and not plan.one_unit:
        flows = max(flows, _parts(plan))
    return Mark(flows, _idle(plan, plan.ranked if listed else plan.taken), why)


def ring_mark(plan: Plan) -> int:
    """Most flows on a link of a tree where every host sends to the next one, by all of its ports at once, in the best order of hosts.

    That is a shift by the ports of a host, so that no more meet than :func:`mark` allows. Nor can more meet than leave one place,
    which is one host's: from a leaf in turn over its uplinks, from a pod as its spines happen to have them.
    """
    fills, most = [*_tiers(plan, plan.ranked)], mark(plan).flows
    if plan.shares_links:
        return most
    if not fills or all(fill.ratio == 1 for fill in fills):
        return 1
    hosts = Counter(adapter.rpartition(" ")[0] for adapter in plan.order)
    beside = Counter((adapter.rpartition(" ")[0], plan.leaf_of[adapter]) for adapter in plan.order)
    leaving = max(math.ceil(n / plan.uplinks[leaf]) + (n > 1 and not fills[0].even) for (_, leaf), n in beside.items())
    return min(most, leaving if len(plan.tiers) < 3 else max(leaving, *hosts.values()))


def _parts(plan: Plan) -> int:
    """Of two tiers: the most of ceil(ranks of a leaf that send to one leaf / its uplinks), summed over these leaves, at any shift."""
    leaves = {leaf: number for number, leaf in enumerate(plan.leaves)}
    at = np.array([leaves[plan.leaf_of[adapter]] for adapter in plan.order])
    most, step = 1, max(1, _CELLS // max(len(leaves), len(at)))
    for leaf, number in leaves.items():
        (own,) = np.nonzero(at == number)
        for first in range(1, len(at), step) if len(own) and plan.uplinks[leaf] else ():
            shifts = np.arange(first, min(first + step, len(at)))
            sent = at[(own + shifts[:, None]) % len(at)]
            cells = np.bincount((sent + len(leaves) * np.arange(len(shifts))[:, None]).ravel(), minlength=len(shifts) * len(leaves)).reshape(-1, len(leaves))
            cells[:, number] = 0
            most = max(most, int((-(-cells // plan.uplinks[leaf])).sum(axis=1).max()))
    return most


class _Fill(NamedTuple):
    """Of one tier: the most that a switch has below it for one link above, at least 1; how many links more fit below all; and whether
    each deals what it has below evenly over those above."""

    ratio: float
    room: int
    even: bool


def _flows(uneven: Sequence[_Fill], fills: Sequence[_Fill]) -> int:
    most = 1
    for fill in fills:
        most = math.ceil(most * fill.ratio - 1e-9)
    if len(fills) > 1 and any(fill.room for fill in uneven):
        return 2 * most
    return most + sum(not fill.even for fill in uneven)


def _tiers(plan: Plan, below: Counter[str]) -> Iterator[_Fill]:
    """Every tier but the top one; ``below`` counts what the leaves have."""
    for number, tier in enumerate(plan.tiers[:-1]):
        joined = [switch for switch in tier if plan.uplinks[switch]]
        ratio = max([1.0, *(below[switch] / plan.uplinks[switch] for switch in joined)])
        room = sum(max(0, math.floor(ratio * plan.uplinks[switch] + 1e-9) - below[switch]) for switch in joined)
        yield _Fill(ratio, room, not room and all(_deals_evenly(plan, switch, below[switch], number) for switch in joined))
        below = Counter(link.b for link in plan.links if link.a in plan.ports)


def _deals_evenly(plan: Plan, switch: str, below: int, tier: int) -> bool:
    """In turn over its uplinks, wherever one begins: always over single links of a leaf, whose ranks follow each other; else where
    the links are as many as what is below, or divide it."""
    up = plan.uplinks[switch]
    return below <= up or below % up == 0 or (tier == 0 and up == plan.above[switch])


def _idle(plan: Plan, dealt: Counter[str]) -> int:
    """A way down that leads to nobody, and a way up by which nobody elsewhere is reached: what every other place lacks, too. ``dealt``
    counts for each leaf the ports that get links of their own."""
    seats = next(_tiers(plan, dealt)).ratio
    idle = _both_ways([(plan.uplinks[leaf], max(0, plan.uplinks[leaf] - dealt[leaf]), not dealt[leaf]) for leaf in plan.leaves])
    if len(plan.tiers) < 3:
        return idle
    below = Counter(link.b for link in plan.links if link.a in plan.ports)
    pods = _pods(plan)
    if len(pods) == 1:  # the third tier waits for a second pod
        return idle + 2 * sum(plan.uplinks[switch] for switch in plan.tiers[-2])
    lacking = []
    for pod in pods:
        leaves, tops = ([switch for switch in tier if switch in pod] for tier in (plan.leaves, plan.tiers[-2]))
        links = sum(plan.uplinks[top] for top in tops)
        unmatched = sum(max(0, plan.uplinks[top] - below[top]) for top in tops)
        missing = sum(max(0, math.floor(seats * plan.uplinks[leaf] + 1e-9) - dealt[leaf]) for leaf in leaves)
        served = sum(min(plan.uplinks[top], sum((dealt[leaf] + len(tops) - 1 - n) // len(tops) for leaf in leaves)) for n, top in enumerate(tops))
        lacking.append((links, min(links, max(unmatched, missing, links - served)), not any(dealt[leaf] for leaf in leaves)))
    return idle + _both_ways(lacking)


def _both_ways(places: Sequence[tuple[int, int, bool]]) -> int:
    """Of (links, links that lack somebody below, whether nobody is there at all) of each place: how many may be idle downwards, and
    upwards as many as the fullest other place lacks, or all where nobody is there to go up."""
    if len(places) == 1:
        return 2 * places[0][0]
    least, second, *_ = sorted(lack for _, lack, _ in places)
    return sum(lack + (links if empty else second if lack == least else least) for links, lack, empty in places)


def _pods(plan: Plan) -> list[set[str]]:
    """Switches that are joined without the top tier."""
    graph, roots = nx.Graph(), {*plan.roots}
    graph.add_nodes_from(name for tier in plan.tiers[:-1] for name in tier)
    graph.add_edges_from((link.a, link.b) for link in plan.links if link.a in plan.ports and link.b not in roots)
    return [*nx.connected_components(graph)]
