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

    The new host is of the same NVLink domain, else of the same leaf group, of the same pod, and so on upwards; of those the one that costs least, to six digits, then one
    of the ``spares``, then the first. Hosts of one leaf group, NVLink domain and GPU type are equal, so that one of each stands for all.
    Where no host of its NVLink domain is idle for a failed one, its tensor group goes as a whole to the nearest domain that has room.
    """
    out = order.copy()
    used = set(out.tolist())
    free = [h for h in range(tiers.hosts) if h not in used and h not in down]
    for node in np.flatnonzero(np.isin(out, list(down))).tolist():
        if int(out[node]) not in down:
            continue  # its tensor group has gone elsewhere
        host = _nearest(tiers, grid, traffic, exposed, out, node, free, spares)
        if host is None:
            nodes = np.arange(node - node % grid.tensor, node - node % grid.tensor + grid.tensor)
            room = _room(tiers, grid, traffic, exposed, out, nodes, free, spares)
            if room is None:
                return None
            free += [h for h in out[nodes].tolist() if h not in down]
            out[nodes] = room
            free = [h for h in free if h not in room]
            continue
        out[node] = host
        free.remove(host)
    return out


def _room(
    tiers: Tiers, grid: NodeGrid, traffic: Traffic, exposed: Mapping[Family, float], order: Order, nodes: Order, free: list[int], spares: Collection[int]
) -> list[int] | None:
    """Idle hosts of one NVLink domain for all ``nodes`` of a tensor group: those nearest to where it is, then those that cost least, then spares."""
    best = None
    for domain in np.unique(tiers.joined[free]) if free else ():
        hosts = sorted((h for h in free if tiers.joined[h] == domain), key=lambda h: (h not in spares, h))[: len(nodes)]
        trial = order.copy()
        if len(hosts) < len(nodes):
            continue
        trial[nodes] = hosts = sorted(hosts)
        far = sum(_distance(tiers, int(a), b) for a, b in zip(order[nodes], hosts, strict=True))
        seconds = float(f"{cost(tiers, grid, traffic, trial, exposed).total_s:.6g}")
        rank = (far, seconds, sum(h not in spares for h in hosts), hosts)
        best = rank if best is None or rank < best else best
    return None if best is None else best[3]


def _nearest(
    tiers: Tiers, grid: NodeGrid, traffic: Traffic, exposed: Mapping[Family, float], order: Order, node: int, free: list[int], spares: Collection[int]
) -> int | None:
    by_distance: dict[int, list[int]] = {}
    for host in _one_of_each(tiers, free, spares):
        by_distance.setdefault(_distance(tiers, int(order[node]), host), []).append(host)
    for _, hosts in sorted(by_distance.items()):
        trials = []
        for host in hosts:
            trial = order.copy()
            trial[node] = host
            if whole(tiers, grid, trial):
                seconds = cost(tiers, grid, traffic, trial, exposed).total_s if len(hosts) > 1 else 0.0
                trials.append((float(f"{seconds:.6g}"), host not in spares, host))
        if trials:
            return min(trials)[2]
    return None


def _one_of_each(tiers: Tiers, free: list[int], spares: Collection[int]) -> list[int]:
    first: dict[tuple[int, ...], int] = {}
    for host in sorted(free, key=lambda h: (h not in spares, h)):
        first.setdefault((*tiers.labels[:, host].tolist(), *_own(tiers, host)), host)
    return list(first.values())


def _own(tiers: Tiers, host: int) -> tuple[int, int]:
    """GPU type and NVLink domain of a host."""
    return (0 if tiers.kind is None else int(tiers.kind[host]), -1 if tiers.domain is None else int(tiers.domain[host]))


def _distance(tiers: Tiers, one: int, other: int) -> int:
    """How many tiers apart two hosts are; another NVLink domain is one more, another type of GPU more than all tiers."""
    kind, domain = (a != b for a, b in zip(_own(tiers, one), _own(tiers, other), strict=True))
    return int((tiers.labels[:, one] != tiers.labels[:, other]).sum()) + domain + kind * (len(tiers.names) + 2)
