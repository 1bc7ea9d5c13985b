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
    beside = np.isin(tiers.labels[0][free], tiers.labels[0][order])
    for host, near in zip(free.tolist(), beside.tolist(), strict=True):
        why[hosts[host]] = "spare" if host in standing_by else "left over" if near else "not needed"
    return tuple(IdleHost(name, why[name]) for name in names if name in why)


def standby(tiers: Tiers, order: Order, free: Order, spares: int) -> list[int]:
    """Which of the free hosts are spares: one of each pod that the job uses before a second of any, in pods of most ranks first; of a pod, and
    where the job uses none, the last hosts."""
    if spares < 1 or not len(free):
        return []
    later = np.sort(free)[::-1]
    pod = tiers.labels[-1][later]
    ranks = np.bincount(tiers.labels[-1][order], minlength=len(tiers.groups[-1]))[pod]
    by_pod = np.argsort(pod, kind="stable")
    turn = np.empty(len(later), dtype=np.int64)
    turn[by_pod] = np.arange(len(later)) - np.searchsorted(pod[by_pod], pod[by_pod])
    turn[ranks == 0] = len(later)
    return later[np.lexsort((-later, -ranks, turn))][:spares].tolist()
