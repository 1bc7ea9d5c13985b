"""Shortest ways between the switches of a fabric, balanced as routing engines balance them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from .model import Array, Links


@dataclass(frozen=True)
class Network:
    """Switches, counted from 0, and what each is cabled to: ``beyond[s, k]`` is the switch behind link k of switch s, -1 for none.
    The directed link k of switch s has the number ``s * width + k``."""

    beyond: Array

    @property
    def width(self) -> int:
        """Links of the switch that has most."""
        return self.beyond.shape[1]

    @staticmethod
    def of(links: Iterable[Links], switches: int) -> Network:
        """What these links, counted within one plane, make of so many switches."""
        ends = [(found.a, found.b) for found in links]
        near, far = (np.concatenate([pair[i] for pair in ends] + [pair[1 - i] for pair in ends]) for i in (0, 1))
        turn = np.argsort(near, kind="stable")
        near, far = near[turn], far[turn]
        degree = np.bincount(near, minlength=switches)
        beyond = np.full((switches, degree.max(initial=0)), -1, dtype=np.int64)
        beyond[near, np.arange(len(near)) - (np.cumsum(degree) - degree)[near]] = far
        return Network(beyond)


def balanced(network: Network, switch: Array, turns: Sequence[int]) -> Array:
    """``ways[s, d]``: the links that a packet takes from switch s to host d, padded by the number of all links, which is none.

    ``switch`` is the switch of each host. Host by host, in the order ``turns``, every switch takes of the shortest ways the one over
    which the fewest earlier ones lead, as the engines sssp and dfsssp of OpenSM do (Hoefler, Schneider and Lumsdaine, Optimized
    Routing for Large-Scale InfiniBand Networks, Hot Interconnects 2009).
    """
    count = len(network.beyond)
    hops, here = _hops(network), np.bincount(switch, minlength=count)
    load = np.zeros(network.beyond.shape, dtype=np.int64)
    taken = np.zeros((count, len(switch)), dtype=np.int64)
    for host in turns:
        away = hops[:, switch[host]]
        cost, through = np.zeros(count, dtype=np.int64), here.copy()
        rings = [np.flatnonzero(away == distance) for distance in range(1, away.max(initial=0) + 1)]
        for distance, ring in enumerate(rings):
            beyond = network.beyond[ring]
            over = np.where((beyond >= 0) & (away[beyond] == distance), cost[beyond] + load[ring], np.iinfo(np.int64).max)
            taken[ring, host] = over.argmin(axis=1)
            cost[ring] = over.min(axis=1)
        for ring in reversed(rings):
            link = taken[ring, host]
            load[ring, link] += through[ring]
            np.add.at(through, network.beyond[ring, link], through[ring])
    return _followed(network, switch, taken, int(hops.max(initial=0)))


def _hops(network: Network) -> Array:
    """Links between every two switches, all of which are joined."""
    count = len(network.beyond)
    joined = np.zeros((count, count), dtype=bool)
    near, link = np.nonzero(network.beyond >= 0)
    joined[near, network.beyond[near, link]] = True
    hops, met = np.zeros((count, count), dtype=np.int64), np.eye(count, dtype=bool)
    while not met.all():
        hops += ~met
        met |= (met.astype(np.float32) @ joined.astype(np.float32)) > 0
    return hops


def _followed(network: Network, switch: Array, taken: Array, hops: int) -> Array:
    count, none = len(network.beyond), network.beyond.size
    at, far = np.repeat(np.arange(count)[:, None], len(switch), axis=1), np.arange(len(switch))
    ways = np.full((count, len(switch), hops), none, dtype=np.int32)
    for hop in range(hops):
        link = taken[at, far]
        moving = at != switch[far]
        ways[:, :, hop] = np.where(moving, at * network.width + link, none)
        at = np.where(moving, network.beyond[at, link], at)
    return ways
