"""A ring all-reduce and an all-to-all as flows over the routes that opensm chose: what they take in theory, and by the count of flows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .plan import Plan
from .routes import Routes

VOLUME = 10**9
"""Bytes that each rank contributes; times scale with it."""
SHIFTS = 31
"""Steps of an all-to-all that are simulated, spread evenly over all of them."""


@dataclass(frozen=True)
class Collective:
    """``steps`` are lists of (from, to) adapters, each of which sends ``flow_bytes`` in a step. ``weight`` is how many steps of the
    collective one of these stands for. ``theory_s`` is its time when nothing but the adapters limits it."""

    name: str
    steps: tuple[tuple[tuple[str, str], ...], ...]
    flow_bytes: int
    weight: float
    theory_s: float


def ring(plan: Plan) -> Collective:
    """Rings over the hosts in rank order, one for each port that every host has, all at once, as NCCL runs them.

    2 (n - 1) steps in which each rank sends its n-th part to the next: 2 (n - 1) / n x volume / bandwidth. All steps are alike.
    """
    hosts: dict[str, list[str]] = {}
    for adapter in plan.order:
        hosts.setdefault(adapter.rpartition(" ")[0], []).append(adapter)
    ports = min(map(len, hosts.values()))
    rows = [[adapters[port] for adapters in hosts.values()] for port in range(ports)]
    step = tuple((near, far) for row in rows for near, far in zip(row, row[1:] + row[:1], strict=True))
    n = len(hosts)
    return Collective("ring all-reduce", (step,), VOLUME // n, 2 * (n - 1), 2 * (n - 1) / n * VOLUME / _Bps(plan.host_gbps))


def all_to_all(plan: Plan) -> Collective:
    """Shift s of all n - 1: rank i sends its n-th part to rank i + s. (n - 1) / n x volume / bandwidth."""
    n = len(plan.order)
    chosen = sorted({1 + (n - 2) * i // max(1, SHIFTS - 1) for i in range(SHIFTS)}) if n > 1 else []
    steps = tuple(tuple(zip(plan.order, _rolled(plan.order, s), strict=True)) for s in chosen)
    return Collective("all-to-all", steps, VOLUME // n, (n - 1) / len(steps), (n - 1) / n * VOLUME / _Bps(plan.host_gbps))


def predicted_s(plan: Plan, routes: Routes, collective: Collective) -> float:
    """Sum over the steps of the time that the busiest link needs for its flows."""
    total = 0.0
    for step in collective.steps:
        near, far = (np.array([routes.index[pair[end]] for pair in step]) for end in (0, 1))
        taken = routes.steps[:, routes.leaf[near], far]
        between = np.bincount(taken[taken >= 0], minlength=1).max()
        at_host = max(np.bincount(near).max(), np.bincount(far).max())
        total += collective.flow_bytes * max(at_host / _Bps(plan.host_gbps), between / _Bps(plan.trunk_gbps))
    return total * collective.weight


def case(plan: Plan, routes: Routes, collective: Collective) -> dict[str, object]:
    """The same for the driver: one simplex link for each directed channel, and one each way for each adapter."""
    count, first = len(routes.adapters), len(routes.channels)
    links = [_Bps(plan.trunk_gbps)] * first + [_Bps(plan.host_gbps)] * (2 * count)
    steps = []
    for step in collective.steps:
        flows = []
        for near, far in ((routes.index[a], routes.index[b]) for a, b in step):
            flows.append([near, far, collective.flow_bytes, [first + near, *routes.path(near, far), first + count + far]])
        steps.append(flows)
    return {"links": links, "hosts": count, "steps": steps}


def _rolled(order: Sequence[str], s: int) -> tuple[str, ...]:
    return (*order[s:], *order[:s])


def _Bps(gbps: int) -> float:
    return gbps * 1e9 / 8
