"""Hosts without a rank, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from .cost import Order
from .model import IdleHost, Why
from .tiers import Tiers


def idle_hosts(tiers: Tiers, order: Order, hosts: Sequence[str], spares: int, others: Mapping[str, Why], names: Iterable[str]) -> tuple[IdleHost, ...]:
    """Hosts of the pool, in the order of ``names``, that get no rank. ``hosts`` are those of ``tiers``; ``others`` lie outside of it."""
    free = np.setdiff1d(np.arange(len(hosts)), order)
    standing_by = set(standby(tiers, order, free, spares))
    why: dict[str, Why] = dict(others)
    used = np.unique(tiers.labels[0][order])
    for host in free.tolist():
        why[hosts[host]] = "spare" if host in standing_by else "left over" if tiers.labels[0][host] in used else "not needed"
    return tuple(IdleHost(name, why[name]) for name in names if name in why)


def standby(tiers: Tiers, order: Order, free: Order, spares: int) -> list[int]:
    """Which of the free hosts are spares: one of each pod that the job uses before a second of any, in pods of most ranks first; of a pod, and
    where the job uses none, the last hosts."""
    pods = tiers.labels[-1]
    ranks = np.bincount(pods[order], minlength=len(tiers.groups[-1]))
    later = sorted(free.tolist(), reverse=True)
    turn: dict[int, int] = {}
    place = {}
    for host in later:
        pod = int(pods[host])
        place[host] = turn.get(pod, 0) if ranks[pod] else len(later)
        turn[pod] = turn.get(pod, 0) + 1
    return sorted(later, key=lambda h: (place[h], -ranks[pods[h]], -h))[: max(0, spares)]
