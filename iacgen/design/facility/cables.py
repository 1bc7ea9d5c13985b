"""The cables of a fabric: which each link gets, from where its ends stand and which cages they leave from, and what is ordered of each.

Passive copper, then active copper, active optical cables, multimode, single-mode (NVIDIA, LinkX 100G-PAM4 product line: the order of
cost, power and latency), in the shortest length on sale that is long enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...catalog import Cable
from ..fabric.model import Fabric, Links
from .cages import Cages, Numbers, Socket, cages
from .choice import BEYOND, Fit, Laid, choose, fitting, from_host, shelf
from .lengths import Metres, lengths, places, span
from .model import Facility

CHUNK = 1 << 15  # links whose two ends are looked up at once: eight numbers for each
NO_CABLE = "none in the catalog"
ALWAYS_M = 30  # for every speed and pair of cages that the catalog has cables of there is one that reaches so far; a test holds it to that


@dataclass(frozen=True)
class Run:
    """The links of one array of ``Fabric.links()`` with their cables.

    ``need_m`` is how long each has to be, nan where an end stands nowhere; ``cable`` counts within ``cables`` or is BEYOND, and
    ``length_m`` is the length on sale. ``ends`` are the cages of the lower and the upper ends, numbered over the whole fabric, and
    ``near`` the kind of the lower one within ``sockets``. ``leads`` marks the first link of each cable: one cable may carry several.
    """

    links: Links
    cables: tuple[Cable, ...]
    need_m: Metres
    cable: Numbers
    length_m: Metres
    ends: tuple[Numbers, Numbers]
    near: Numbers
    sockets: tuple[Socket, ...]
    leads: NDArray[np.bool_]


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
    return assign(fabric, list(_measured(facility, fabric)))


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
    measured = list(_measured(facility, fabric))
    speeds = [links.gbps for links, _ in measured]
    known = shelf(fabric, speeds)
    for (links, need), each in zip(measured, _each_fit(cages(fabric), known, [links for links, _ in measured]) if measured else (), strict=True):
        for fit in each:
            reach = max((cable.longest_m for cable, may in zip(known, fit.cables, strict=True) if may), default=np.inf)
            mine = need[fit.index]
            if count := int((mine > reach).sum()):
                yield TooLong(links.joins, links.gbps, count, float(np.nanmax(mine)), reach)


def unfit(fabric: Fabric) -> dict[tuple[int, Socket, Socket], int]:
    """Speed and kinds of both cages → how many links, where no cable of the catalog fits between them."""
    found: Counter[tuple[int, Socket, Socket]] = Counter()
    links = list(fabric.each())
    for each in _each_fit(cages(fabric), shelf(fabric, [one.gbps for one in links]), links) if links else ():
        for fit in each:
            if not fit.cables.any():
                found[fit.links.gbps, fit.near, fit.far] += len(fit.index)
    return dict(found)


def _each_fit(every: Cages, known: Sequence[Cable], links: Sequence[Links]) -> Iterator[list[Fit]]:
    for one in links:
        yield list(fitting(every, known, one, *every.ends(one)))


@dataclass(frozen=True)
class Crowded:
    """A cage whose links no one plug serves: the device, its cage there from 1, and the cables that they would need."""

    device: str
    cage: int
    cables: tuple[Cable, ...]


def crowded(facility: Facility, fabric: Fabric) -> list[Crowded]:
    """The cages of a fabric that would have to take two plugs at once."""
    found = runs(facility, fabric)
    if not found:
        return []
    every, width = cages(fabric), len(found[0].cables)
    pairs = [ends[run.cable != BEYOND] * width + run.cable[run.cable != BEYOND] for run in found for ends in run.ends]
    cage, cable = np.divmod(np.unique(np.concatenate(pairs)), width)
    twice = np.unique(cage[1:][cage[1:] == cage[:-1]])
    return [Crowded(*every.place(one), tuple(found[0].cables[i] for i in cable[cage == one].tolist())) for one in twice.tolist()]


def at_most(facility: Facility, fabric: Fabric) -> float:
    """Metres that no cable of the fabric exceeds, without a look at its links; 0 in a cloud."""
    if not fabric.tiers:
        return 0.0
    managers = fabric.manager.hosts if fabric.manager else ()
    return span(places(facility, (*fabric.switch_names, *fabric.hosts, *managers)))


def _measured(facility: Facility, fabric: Fabric) -> Iterator[tuple[Links, Metres]]:
    if not fabric.tiers:
        return
    switches, hosts = places(facility, fabric.switch_names), places(facility, fabric.hosts)
    ends = {"host-leaf": hosts, "manager-leaf": places(facility, fabric.manager.hosts if fabric.manager else ())}
    for links in fabric.each():
        near = ends.get(links.joins, switches)
        parts = ((links.a[at : at + CHUNK], links.b[at : at + CHUNK]) for at in range(0, len(links), CHUNK))
        yield links, np.concatenate([lengths(near.take(a), switches.take(b)) for a, b in parts] or [np.empty(0)])


def assign(fabric: Fabric, measured: Sequence[tuple[Links, Metres]]) -> tuple[Run, ...]:
    """The cables of links that need so many metres: all links of the fabric, since they share cages."""
    if not measured:
        return ()
    every, known = cages(fabric), shelf(fabric, [links.gbps for links, _ in measured])
    ends = [every.ends(links) for links, _ in measured]
    fits = [np.zeros((len(links), len(known)), dtype=bool) for links, _ in measured]
    for (links, _), (near, far), mine in zip(measured, ends, fits, strict=True):
        for fit in fitting(every, known, links, near, far):
            mine[fit.index] = fit.cables
    share = np.array([socket.links for socket in every.sockets])
    laid = Laid(
        np.concatenate([near.cage for near, _ in ends]), np.concatenate([far.cage for _, far in ends]), np.concatenate([need for _, need in measured]),
        np.repeat([links.gbps for links, _ in measured], [len(links) for links, _ in measured]), np.concatenate(fits),
        np.concatenate([far.part for _, far in ends]), np.concatenate([share[far.kind] for _, far in ends]),
    )  # fmt: skip
    chosen = choose(laid, known, every.count)
    leads = chosen.first == np.arange(len(chosen.first))
    out, at = [], 0
    for (links, need), (near, far) in zip(measured, ends, strict=True):
        to = at + len(links)
        out.append(Run(links, known, need, chosen.cable[at:to], chosen.length_m[at:to], (near.cage, far.cage), near.kind, every.sockets, leads[at:to]))
        at = to
    return tuple(out)


def parts(runs: Sequence[Run]) -> Iterator[Part]:
    """What to buy for these links, without spares: cables by length, and a transceiver for each used cage, not for each link. What
    serves links of two kinds is counted with the first. Links that nothing in the catalog is made for have NO_CABLE, with the longest
    that is needed."""
    plugs = list(_plugs(runs))
    for number, run in enumerate(runs):
        joins, gbps = run.links.joins, run.links.gbps
        bought: dict[tuple[str, float], list[int]] = {}  # two kinds of transceiver may take the same fibre
        for kind, cable in enumerate(run.cables):
            mine = run.cable == kind
            for length in np.unique(run.length_m[mine]).tolist():
                those, line = mine & (run.length_m == length), bought.setdefault((cable.model, length), [0, 0])
                line[0], line[1] = line[0] + int(those.sum()), line[1] + int((those & run.leads).sum())
        yield from (Part(joins, gbps, "cable", model, length, links, count) for (model, length), (links, count) in bought.items())
        yield from (part for owner, part in plugs if owner == number)
        without = run.need_m[(run.cable == BEYOND) & ~np.isnan(run.need_m)]
        if len(without):
            yield Part(joins, gbps, "cable", NO_CABLE, round(float(without.max()), 1), len(without), len(without))


def _plugs(runs: Sequence[Run]) -> Iterator[tuple[int, Part]]:
    """The transceivers with the number of the run that they are counted with: one for each cage and model."""
    models: dict[tuple[str, str], int] = {}
    found: list[tuple[int, int, Numbers, int]] = []  # run, model, cages, links
    for number, run in enumerate(runs):
        for what, model, mine, links in _ends_with_plugs(run):
            found.append((number, models.setdefault((what, model), len(models)), mine, links))
    keys = [cage * max(1, len(models)) + model for _, model, cage, _ in found]
    owner = np.repeat(np.arange(len(found)), [len(key) for key in keys])
    first = np.unique(np.concatenate(keys), return_index=True)[1] if keys else np.empty(0, dtype=np.int64)
    counts = np.bincount(owner[first], minlength=len(found)).tolist() if keys else []
    names, lines = list(models), dict[tuple[int, int], list[int]]()
    for (number, model, _, links), count in zip(found, counts, strict=True):
        line = lines.setdefault((number, model), [0, 0])
        line[0], line[1] = line[0] + links, line[1] + count
    for (number, model), (links, count) in lines.items():
        what, name = names[model]
        yield number, Part(runs[number].links.joins, runs[number].links.gbps, what, name, None, links, count)


def _ends_with_plugs(run: Run) -> Iterator[tuple[str, str, Numbers, int]]:
    """Whose transceiver, its model, the cage of every link's end that it is for, and how many links these are: none at the second
    end of links that have been told by their first."""
    for number, cable in enumerate(run.cables):
        mine = np.flatnonzero(run.cable == number)
        if not len(mine) or not cable.switch_transceiver:
            continue
        yield "switch transceiver", cable.switch_transceiver.model, run.ends[1][mine], len(mine)
        if not from_host(run.links):
            yield "switch transceiver", cable.switch_transceiver.model, run.ends[0][mine], 0
            continue
        for kind in np.unique(run.near[mine]).tolist():
            end = cable.host_end(run.sockets[kind].form, run.sockets[kind].links)
            assert end and end.model
            ends = run.ends[0][mine[run.near[mine] == kind]]
            yield "host transceiver", end.model, ends, len(ends)
