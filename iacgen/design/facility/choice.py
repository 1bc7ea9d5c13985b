"""Which cable of the catalog each link may have, and which it gets.

A cage takes one plug. So links that share a cage at either end are made of the same cable, the first that reaches the farthest of
them: both links of a twin-port transceiver go over the same kind of fibre, and its fibres are all straight or all split (NVIDIA,
MMA1Z00-NS400-T and MMS4X00-NM product specifications). Links that hang together so are a *knot*. One cable of copper, or one with
lasers of its own, is a knot by itself: between two cages, or from one cage of a switch to a cage of a host for each of its links.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import catalog
from ...catalog import Cable
from ..fabric.model import Fabric, Links
from .cages import FROM_HOSTS, Cages, Ends, Numbers, Socket

Flags = NDArray[np.bool_]
Metres = NDArray[np.float64]
MEDIA = ("twisted-pair", "dac", "acc", "aoc", "multimode", "single-mode")  # in the order of cost, power and latency
BEYOND = -1  # in place of a cable: none fits, or none reaches that far


class Fit(NamedTuple):
    """Links of one array with ends in cages of the same two kinds: which links, and which of the cables they may have."""

    links: Links
    near: Socket
    far: Socket
    index: Numbers
    cables: Flags


@dataclass(frozen=True)
class Laid:
    """The links of a fabric one behind the other: the cages of both ends, metres of cable that each needs, its speed, which cables fit
    it, and which link of its upper cage it is, of how many."""

    near: Numbers
    far: Numbers
    need_m: Metres
    gbps: Numbers
    fits: Flags
    part: Numbers
    share: Numbers


class Chosen(NamedTuple):
    """For each link: the number of its cable or BEYOND; metres on sale; the link that stands first among those of the same cable."""

    cable: Numbers
    length_m: Metres
    first: Numbers


def shelf(fabric: Fabric, speeds: Sequence[int]) -> tuple[Cable, ...]:
    """The cables of these speeds that speak the fabric's technology, the best first."""
    found = (cable for gbps in sorted(set(speeds)) for cable in catalog.cables(gbps) if fabric.technology in cable.technologies)
    return tuple(sorted(found, key=lambda cable: (MEDIA.index(cable.medium), cable.reach_m, cable.id)))


def fits(cable: Cable, gbps: int, near: Socket, far: Socket) -> bool:
    """Whether a link of this speed may be made of it between cages of these two kinds, of which ``far`` is a switch's."""
    if cable.gbps != gbps or not cable.at_switch(far.form, far.links):
        return False
    if near.host:
        return "host-switch" in cable.between and cable.host_end(near.form, near.links) is not None
    return "switch-switch" in cable.between and cable.at_switch(near.form, near.links)


def fitting(cages: Cages, cables: Sequence[Cable], links: Links, near: Ends, far: Ends) -> Iterator[Fit]:
    """The links of one array by the kinds of their cages."""
    kinds = len(cages.sockets)
    pairs, of = np.unique(near.kind * kinds + far.kind, return_inverse=True)
    for number, pair in enumerate(pairs.tolist()):
        one, two = cages.sockets[pair // kinds], cages.sockets[pair % kinds]
        yield Fit(links, one, two, np.flatnonzero(of == number), np.array([fits(cable, links.gbps, one, two) for cable in cables], dtype=bool))


def choose(laid: Laid, cables: Sequence[Cable], cages: int) -> Chosen:
    """A cable for every link that one reaches. Where no cable serves all links of a knot it is cut: by speed, then into single links."""
    reach = np.array([cable.longest_m for cable in cables], dtype=np.float64)
    possible = laid.fits & (laid.need_m[:, None] <= reach)
    every = np.arange(len(laid.near))
    cable, length, first = np.full(len(every), BEYOND, dtype=np.int64), np.full(len(every), np.nan), every.copy()
    left = np.flatnonzero(possible.any(axis=1))
    knot = _knots(laid.near[left], laid.far[left], cages)
    for cut in (knot, knot * (1 + int(laid.gbps.max(initial=0))) + laid.gbps[left], left):
        open_ = cable[left] == BEYOND
        _settle(laid, cables, left[open_], cut[open_], possible, cable, first)
    for number, one in enumerate(cables):
        mine = np.flatnonzero(cable == number)
        far = np.zeros(len(every))
        np.maximum.at(far, first[mine], laid.need_m[mine])
        length[mine] = sold(one, far[first[mine]])
    return Chosen(cable, length, first)


def _knots(near: Numbers, far: Numbers, cages: int) -> Numbers:
    """A number for each link, the same for those that hang together."""
    lowest = np.arange(cages)
    while True:
        before = lowest
        lowest = before.copy()
        here = np.minimum(before[near], before[far])
        np.minimum.at(lowest, near, here)
        np.minimum.at(lowest, far, here)
        lowest = lowest[lowest]
        if np.array_equal(lowest, before):
            return lowest[near]


def _settle(laid: Laid, cables: Sequence[Cable], left: Numbers, group: Numbers, possible: Flags, cable: Numbers, first: Numbers) -> None:
    """Give the links ``left`` of each group the first cable that all of them may have, where there is one."""
    if not len(left):
        return
    _, leader, group, size = np.unique(group, return_index=True, return_inverse=True, return_counts=True)
    near, far = laid.near[left], laid.far[left]
    upper, all_ = _distinct(group, far), _distinct(np.tile(group, 2), np.concatenate([near, far]))
    undecided = np.ones(len(size), dtype=bool)
    for number, one in enumerate(cables):
        take = undecided & (np.bincount(group, ~possible[left, number], len(size)) == 0)
        if not one.switch_transceiver:
            take &= (upper if splits(one) else all_ - 1) == 1  # no cage that it fits has more links than it carries
        undecided &= ~take
        mine = take[group]
        cable[left[mine]] = number
        if not one.switch_transceiver:
            first[left[mine]] = left[leader[group[mine]]]
        elif one.links > 1:
            first[left[mine]] = _bundles(laid, one, left[mine])


def splits(cable: Cable) -> bool:
    """Whether its end at a switch serves several hosts."""
    return cable.links > 1 and bool(cable.host_ends) and all(end.links == 1 for end in cable.host_ends.values())


def _distinct(group: Numbers, thing: Numbers) -> Numbers:
    """How many different things each group has."""
    width = int(thing.max(initial=0)) + 1
    return np.bincount(np.unique(group * width + thing) // width, minlength=int(group.max(initial=-1)) + 1)


def _bundles(laid: Laid, fibre: Cable, index: Numbers) -> Numbers:
    """For links over split fibres the first link of the same one: it leaves from one of the ports of a transceiver."""
    assert fibre.switch_transceiver
    ports = fibre.switch_transceiver.links // fibre.links
    port = laid.part[index] * ports // np.maximum(laid.share[index], ports)
    _, leader, of = np.unique(laid.far[index] * ports + port, return_index=True, return_inverse=True)
    return index[leader[of]]


def sold(cable: Cable, need: Metres) -> Metres:
    """The shortest lengths on sale of at least ``need`` metres each, none of which may be more than the longest."""
    stock = np.array([m for m in cable.lengths_m if m <= cable.longest_m])
    at = np.searchsorted(stock, need)
    made = np.ceil(need / cable.step_m) * cable.step_m if cable.step_m else need
    return np.where(at < len(stock), stock[np.minimum(at, len(stock) - 1)], made)


def from_host(links: Links) -> bool:
    """Whether the lower ends are hosts."""
    return links.joins in FROM_HOSTS
