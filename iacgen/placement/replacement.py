"""After a failure: another host for each one that is down, and nothing else moves."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from iacgen.training.traffic import NodeGrid, Traffic

from .cost import Order, cost, whole
from .model import Family
from .tiers import Tiers


def replaced(tiers: Tiers, grid: NodeGrid, traffic: Traffic, exposed: Mapping[Family, float], order: Order, down: Collection[int], spares: Collection[int]) -> Order | None:
    """The order with an idle host, which is up, for each host that is ``down`` (indices into ``tiers``); None where there are too few, or where
    a tensor group would leave its NVLink domain.

    Of the idle hosts the one that costs least is taken, to six digits; of these one of the same leaf group, of the same pod, one of the ``spares``, the
    first. Hosts of one leaf group, NVLink domain and GPU type are equal, so that one of each stands for all.
    """
    out = order.copy()
    used = set(out.tolist())
    free = [h for h in range(tiers.hosts) if h not in used and h not in down]
    for node in np.flatnonzero(np.isin(out, list(down))).tolist():
        trials = []
        for host in _one_of_each(tiers, free, spares):
            trial = out.copy()
            trial[node] = host
            if whole(tiers, grid, trial):
                trials.append((_far(tiers, grid, traffic, exposed, trial, int(out[node]), host, host in spares), host))
        if not trials:
            return None
        out[node] = min(trials)[1]
        free.remove(int(out[node]))
    return out


def _one_of_each(tiers: Tiers, free: list[int], spares: Collection[int]) -> list[int]:
    first: dict[tuple[int, ...], int] = {}
    for host in sorted(free, key=lambda h: (h not in spares, h)):
        kind = -1 if tiers.kind is None else int(tiers.kind[host])
        first.setdefault((*tiers.labels[:, host].tolist(), -1 if tiers.domain is None else int(tiers.domain[host]), kind), host)
    return list(first.values())


def _far(
    tiers: Tiers, grid: NodeGrid, traffic: Traffic, exposed: Mapping[Family, float], trial: Order, before: int, host: int, spare: bool
) -> tuple[bool | float, ...]:
    apart = tiers.labels[:, before] != tiers.labels[:, host]
    mixes = tiers.kind is not None and tiers.kind[before] != tiers.kind[host]
    seconds = float(f"{cost(tiers, grid, traffic, trial, exposed).total_s:.6g}")
    return (bool(mixes), seconds, *(bool(a) for a in apart), not spare)
