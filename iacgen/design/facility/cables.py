"""Which cable each link gets: the cheapest medium within reach, in the shortest length on sale that is long enough.

Passive copper, then active copper, active optical cables, multimode, single-mode (NVIDIA, LinkX 100G-PAM4 product line: the order of
cost, power and latency). A part that carries two links needs both of them between the same two cages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ... import catalog
from ...catalog import Cable, Switch
from ..fabric.model import Fabric, Links
from .lengths import Metres, lengths, places, span
from .model import Facility

Cages = NDArray[np.int64]

MEDIA = ("twisted-pair", "dac", "acc", "aoc", "multimode", "single-mode")
BEYOND = -1  # in place of a cable: none reaches that far
CHUNK = 1 << 15  # links whose two ends are looked up at once: eight numbers for each
NO_CABLE = "none in the catalog"
ALWAYS_M = 50  # for every speed that the catalog has cables of there is one that reaches so far; a test holds it to that


@dataclass(frozen=True)
class Run:
    """The links of one array of ``Fabric.links()`` with their cables.

    ``need_m`` is how long each has to be, nan where an end stands nowhere; ``cable`` counts within ``cables`` or is BEYOND, and
    ``length_m`` is the length on sale. Without ``cables`` the catalog knows none for this speed and these cages. ``cages`` numbers the
    cage at each end, over all switches; a host's port counts as one.
    """

    links: Links
    cables: tuple[Cable, ...]
    need_m: Metres
    cable: NDArray[np.int64]
    length_m: Metres
    cages: tuple[Cages, Cages]


@dataclass(frozen=True)
class Part:
    """A line of an order: ``what`` is "cable", "switch transceiver" or "host transceiver"; ``links`` is how many it serves in all."""

    joins: str
    gbps: int
    what: str
    model: str
    length_m: float | None
    links: int
    count: int


def runs(facility: Facility, fabric: Fabric) -> tuple[Run, ...]:
    """Cables of all links of a fabric, in the order of ``Fabric.links()``; none in a cloud."""
    return tuple(assign(fabric, links, need) for links, need in _measured(facility, fabric))


def needs(facility: Facility, fabric: Fabric) -> tuple[float, ...]:
    """The longest cable of each array of ``Fabric.links()``, metres; 0 where no end has a place."""
    return tuple(float(np.nan_to_num(need).max(initial=0)) for _, need in _measured(facility, fabric))


@dataclass(frozen=True)
class TooLong:
    """Links of one kind that no cable reaches: how many, the longest of them in metres, and the reach of the best cable."""

    joins: str
    gbps: int
    count: int
    longest_m: float
    reach_m: float


def too_long(facility: Facility, fabric: Fabric) -> Iterator[TooLong]:
    """Those links that no cable of the catalog reaches, without choosing one for the others."""
    for links, need in _measured(facility, fabric):
        reach = max((cable.longest_m for cable in choices(fabric, links)), default=np.inf)
        if count := int((need > reach).sum()):
            yield TooLong(links.joins, links.gbps, count, float(np.nanmax(need)), reach)


def at_most(facility: Facility, fabric: Fabric) -> float:
    """Metres that no cable of the fabric exceeds, without a look at its links; 0 in a cloud."""
    if not fabric.tiers:
        return 0.0
    managers = fabric.manager.hosts if fabric.manager else ()
    return span(places(facility, (*fabric.switch_names, *fabric.hosts, *managers)))


def cage(switch: Switch, gbps: int) -> str:
    """The cage of a switch that a link of this speed leaves from."""
    if gbps == 1:
        return "rj45"
    if gbps <= 25:
        return "sfp28"
    return "osfp" if switch.cage_links > 1 or gbps > 200 else "qsfp56" if gbps == 200 else "qsfp28"


def choices(fabric: Fabric, links: Links) -> tuple[Cable, ...]:
    """The cables that these links may have, the best first."""
    between = "host-switch" if links.joins in ("host-leaf", "manager-leaf") else "switch-switch"
    fits = cage(fabric.tiers[0].switch, links.gbps)
    found = (c for c in catalog.cables(links.gbps) if fabric.technology in c.technologies and between in c.between and c.cage == fits)
    return tuple(sorted(found, key=lambda c: (MEDIA.index(c.medium), c.reach_m)))


def _measured(facility: Facility, fabric: Fabric) -> Iterator[tuple[Links, Metres]]:
    if not fabric.tiers:
        return
    switches, hosts = places(facility, fabric.switch_names), places(facility, fabric.hosts)
    ends = {"host-leaf": hosts, "manager-leaf": places(facility, fabric.manager.hosts if fabric.manager else ())}
    for links in fabric.each():
        near = ends.get(links.joins, switches)
        parts = ((links.a[at : at + CHUNK], links.b[at : at + CHUNK]) for at in range(0, len(links), CHUNK))
        yield links, np.concatenate([lengths(near.take(a), switches.take(b)) for a, b in parts] or [np.empty(0)])


def assign(fabric: Fabric, links: Links, need: Metres) -> Run:
    """The cables of links that need so many metres."""
    cables, cages = choices(fabric, links), _cages(fabric, links)
    chosen, length = np.full(len(need), BEYOND, dtype=np.int64), np.full(len(need), np.nan)
    for number, cable in enumerate(cables):
        open_ = (chosen == BEYOND) & (need <= cable.longest_m)
        if cable.links > 1 and not _to_host(links):
            _, pair, count = np.unique(_joint(*cages), return_inverse=True, return_counts=True)
            open_ &= count[pair] == cable.links
        chosen[open_] = number
        length[open_] = sold(cable, need[open_])
    return Run(links, cables, need, chosen, length, cages)


def sold(cable: Cable, need: Metres) -> Metres:
    """The shortest lengths on sale of at least ``need`` metres each, none of which may be more than the longest."""
    stock = np.array([m for m in cable.lengths_m if m <= cable.longest_m])
    at = np.searchsorted(stock, need)
    made = np.ceil(need / cable.step_m) * cable.step_m if cable.step_m else need
    return np.where(at < len(stock), stock[np.minimum(at, len(stock) - 1)], made)


def _to_host(links: Links) -> bool:
    return links.joins in ("host-leaf", "manager-leaf")


def _cages(fabric: Fabric, links: Links) -> tuple[Cages, Cages]:
    """The cage of each link at both ends, numbered over all switches."""
    share = np.repeat([tier.switch.shares(links.gbps) if tier.switch.ports(links.gbps) else 1 for tier in fabric.tiers], [len(tier.names) for tier in fabric.tiers])

    def of(device: NDArray[np.int64], port: NDArray[np.int64]) -> Cages:
        return _joint(device, (port - 1) // share[device])

    return (_joint(links.a, links.a_port) if _to_host(links) else of(links.a, links.a_port), of(links.b, links.b_port))


def _joint(one: NDArray[np.int64], two: NDArray[np.int64]) -> NDArray[np.int64]:
    """One number for each pair of numbers."""
    return one * (int(two.max(initial=0)) + 1) + two


def _whole(cages: Cages, size: int) -> int:
    """Parts that serve ``size`` links of one cage each, for links that leave from these cages."""
    return int((-(-np.unique(cages, return_counts=True)[1] // size)).sum())


def parts(runs: Sequence[Run]) -> Iterator[Part]:
    """What to buy for these links, without spares: cables by length, and a transceiver for each used cage, not for each link. Links
    that nothing in the catalog is made for have NO_CABLE, with the longest that is needed."""
    for run in runs:
        joins, gbps = run.links.joins, run.links.gbps
        for number, cable in enumerate(run.cables):
            mine = run.cable == number
            for length in np.unique(run.length_m[mine]):
                those = mine & (run.length_m == length)
                ends = run.cages[1] if _to_host(run.links) else _joint(*run.cages)
                yield Part(joins, gbps, "cable", cable.model, float(length), int(those.sum()), _whole(ends[those], cable.links))
            if mine.any():
                yield from _transceivers(run, cable, mine)
        without = run.need_m[(run.cable == BEYOND) & ~np.isnan(run.need_m)]
        if len(without):
            yield Part(joins, gbps, "cable", NO_CABLE, round(float(without.max()), 1), len(without), len(without))


def _transceivers(run: Run, cable: Cable, mine: NDArray[np.bool_]) -> Iterator[Part]:
    joins, gbps, links = run.links.joins, run.links.gbps, int(mine.sum())
    if cable.switch_transceiver:
        at = run.cages[1:] if _to_host(run.links) else run.cages
        yield Part(joins, gbps, "switch transceiver", cable.switch_transceiver.model, None, links, sum(_whole(cages[mine], cable.switch_transceiver.links) for cages in at))
    if cable.host_transceiver and _to_host(run.links):
        yield Part(joins, gbps, "host transceiver", cable.host_transceiver.model, None, links, -(-links // cable.host_transceiver.links))
