"""How many flows meet by chance on the links of a dragonfly: what an order of ranks is measured against."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .plan import Plan

CROWDED = 12.5
"""Links, over all shifts, on which chance may put more flows than the mark allows. At 1,056 hosts (p=4, a=8, h=4), which are to have
at most 8 flows on a link, that is so on 12 of 3 million links and shifts (with 7 on 85); an order that was made for it has none of them."""
SHIFTS = 4  # and in a small fabric no more than one such link in so many shifts


def crowd(plan: Plan) -> int:
    """Most flows on a link over all shifts, where it is as if by chance who sends to whom: hosts of ``order`` in any mixed order.

    A link over which a share q of all pairs goes has flows of n senders by the law of Poisson, of mean q n. The mark is the
    smallest m that fewer than :data:`CROWDED` links exceed, summed over all n - 1 shifts. Adapters of a host on one switch go side by
    side: their flows count together.
    """
    hosts: dict[tuple[str, str], int] = {}
    for adapter in plan.order:
        place = (adapter.rpartition(" ")[0], plan.leaf_of[adapter])
        hosts[place] = hosts.get(place, 0) + 1
    if len(hosts) < 2:
        return 1
    shifts = len(hosts) - 1
    mean, allowed = loads(plan, [leaf for _, leaf in hosts]) / shifts, min(CROWDED, shifts / SHIFTS)
    return max(hosts.values()) * next(most for most in range(1, len(hosts) + 1) if shifts * _beyond(mean, most) < allowed or most == len(hosts))


def loads(plan: Plan, leaves: list[str]) -> NDArray[np.float64]:
    """Ordered pairs of hosts, on these leaves, whose shortest way has a directed link between switches: one that has several equally
    short ways sends an equal share over each."""
    number = {name: i for i, name in enumerate(plan.switches)}
    pairs = np.array([(number[link.a], number[link.b]) for link in plan.links if link.a in plan.ports], dtype=np.int64).reshape(-1, 2)
    near, far = np.concatenate([pairs, pairs[:, ::-1]]).T
    here = np.bincount([number[leaf] for leaf in leaves], minlength=len(number)).astype(np.float64)
    load = np.zeros(len(near))
    for to in np.flatnonzero(here).tolist():
        away = _hops(near, far, len(number), to)
        ahead = away[near] == away[far] + 1
        ways = np.zeros(len(number))
        ways[to] = 1.0
        for distance in range(1, away.max() + 1):
            next_ = ahead & (away[near] == distance)
            np.add.at(ways, near[next_], ways[far[next_]])
        through = here.copy()
        for distance in range(away.max(), 0, -1):
            next_ = ahead & (away[near] == distance)
            sent = through[near[next_]] * ways[far[next_]] / ways[near[next_]]
            load[next_] += sent * here[to]
            np.add.at(through, far[next_], sent)
    return load


def _hops(near: NDArray[np.int64], far: NDArray[np.int64], switches: int, to: int) -> NDArray[np.int64]:
    """Links from every switch to one; all are joined."""
    away = np.full(switches, switches, dtype=np.int64)
    away[to] = 0
    for distance in range(1, switches):
        reached = near[(away[far] == distance - 1) & (away[near] > distance)]
        if not len(reached):
            break
        away[reached] = distance
    return away


def _beyond(mean: NDArray[np.float64], most: int) -> float:
    """Links of these mean flows that have more than ``most``, by the law of Poisson."""
    within = sum(np.exp(-mean) * mean**k / math.factorial(k) for k in range(most + 1))
    return float(np.maximum(0.0, 1.0 - within).sum())
