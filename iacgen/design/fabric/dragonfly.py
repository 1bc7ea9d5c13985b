"""Dragonfly and dragonfly+: groups of switches, every two groups joined by equally many direct links.

Sources: Kim et al., Technology-Driven, Highly-Scalable Dragonfly Topology (ISCA 2008); Shpiner et al., Dragonfly+ (HiPINEB 2017).
A router of a dragonfly carries hosts, is joined to every other router of its group, and has ``h`` links to other groups. A group
of a dragonfly+ is a two-tier tree whose spines have the links to other groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .fat_tree import deal, laid, leaf_group, seats_of
from .model import Growth, Joins, Links, Pod
from .shape import FabricError, Request, Shape


@dataclass(frozen=True)
class Dragonfly:
    """Trunks of ``groups`` groups of ``leaves`` leaves with ``hosts`` host ports each, wired for ``planned`` groups.

    ``spines`` is 0 in a plain dragonfly, whose routers carry the ``reach`` links to other groups; else a spine does. ``asked`` are links
    between two groups where not all that there are ports for are laid.
    """

    hosts: int
    leaves: int
    spines: int
    reach: int
    groups: int
    planned: int
    gbps: int
    asked: int | None = None
    multipath: bool = True

    @property
    def ends(self) -> int:
        """Switches of a group that have links to other groups."""
        return self.spines or self.leaves

    @property
    def between(self) -> int:
        """Links between two groups."""
        most = self.ends * self.reach // (self.planned - 1) if self.planned > 1 else 0
        return min(self.asked or most, most)

    @property
    def counts(self) -> Mapping[Joins, int]:
        inside: dict[Joins, int] = {"leaf-spine": self.groups * self.leaves * self.spines}
        if not self.spines:
            inside = {"leaf-leaf": self.groups * self.leaves * (self.leaves - 1) // 2}
        return {**inside, "group-group": self.groups * (self.groups - 1) // 2 * self.between}

    @property
    def group_gbps(self) -> int:
        return self.gbps * (self.spines or self.leaves - 1 + self.reach)

    @property
    def pod_gbps(self) -> int:
        return self.gbps * self.between * (self.groups - 1)

    def links(self) -> Iterator[Links]:
        """Ports of a router: hosts, then its group in order, then other groups; of a spine: its leaves, then other groups."""
        yield self._bipartite() if self.spines else self._complete()
        if self.groups > 1:
            yield self._across()

    def _complete(self) -> Links:
        group, one, two = (x.ravel() for x in np.indices((self.groups, self.leaves, self.leaves)))
        group, one, two = (x[one < two] for x in (group, one, two))
        first = group * self.leaves
        return Links("leaf-leaf", self.gbps, first + one, self.hosts + two, first + two, self.hosts + one + 1)

    def _bipartite(self) -> Links:
        group, leaf, spine = (x.ravel() for x in np.indices((self.groups, self.leaves, self.spines)))
        base = self.groups * self.leaves
        return Links("leaf-spine", self.gbps, group * self.leaves + leaf, self.hosts + spine + 1, base + group * self.spines + spine, leaf + 1)

    def _across(self) -> Links:
        """Group i numbers its links round by round over the other groups in the order i+1, i+2, ...; a switch has a run of them."""
        i, j, turn = (x.ravel() for x in np.indices((self.groups, self.groups, self.between)))
        i, j, turn = (x[i < j] for x in (i, j, turn))
        a, a_port = self._end(i, turn * (self.planned - 1) + j - i - 1)
        b, b_port = self._end(j, turn * (self.planned - 1) + (i - j - 1) % self.planned)
        return Links("group-group", self.gbps, a, a_port, b, b_port)

    def _end(self, group: np.ndarray, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        inside = self.leaves if self.spines else self.hosts + self.leaves - 1
        base = self.groups * self.leaves if self.spines else 0
        return base + group * self.ends + number // self.reach, inside + number % self.reach + 1


def shape(request: Request) -> Shape:
    """A dragonfly, balanced in what is not asked for: a = 2p = 2h (Kim et al., section 3.1). Raises FabricError."""
    radix, asked = request.switch.ports(request.host_gbps()), request.group
    given = asked.hosts or (asked.leaves and -(-asked.leaves // 2)) or asked.links

    def sizes(n: int) -> Sizes:
        return Sizes(asked.hosts or n, asked.leaves or 2 * n, 0, asked.links or n, asked.between or 1)

    size = _fewest(request, given, (radix + 1) // 4, sizes, lambda s: s.hosts + s.leaves - 1 + s.reach <= radix)
    if size.hosts + size.leaves - 1 + size.reach > radix:
        raise FabricError("group", f"{size.hosts} hosts, {size.leaves - 1} other routers and {size.reach} links to other groups are more than the {radix} ports of {request.switch.name}")
    return _laid(request, size)


def plus(request: Request) -> Shape:
    """A dragonfly+; in what is not asked for, a leaf has as many hosts as spines and a spine as many leaves as links to other groups.
    Raises FabricError."""
    gbps, asked = request.host_gbps(), request.group
    radix, top = request.switch.ports(gbps), request.above.ports(gbps)
    if not top:
        raise FabricError("spine", f"{request.above.name} has no ports of {gbps} Gb/s, the speed of the leaves")
    given = asked.hosts or asked.spines or asked.leaves or asked.links

    def sizes(n: int) -> Sizes:
        return Sizes(asked.hosts or n, asked.leaves or n, asked.spines or n, asked.links or n, asked.between or 1)

    size = _fewest(request, given, min(radix, top) // 2, sizes, lambda s: s.hosts + s.spines <= radix and s.leaves + s.reach <= top)
    if size.hosts + size.spines > radix or size.leaves + size.reach > top:
        raise FabricError("group", f"a leaf takes {size.hosts} + {size.spines} of {radix} ports, a spine {size.leaves} + {size.reach} of {top}")
    return _laid(request, size)


class Sizes(NamedTuple):
    """Of a group: host ports of a leaf, leaves, spines, links to other groups of each switch that has any, and of them how many lead at
    least to each other group."""

    hosts: int
    leaves: int
    spines: int
    reach: int
    between: int

    @property
    def groups(self) -> int:
        """Most that can be joined, each to every other."""
        return (self.spines or self.leaves) * self.reach // self.between + 1


def _fewest(request: Request, given: int | None, most: int, sizes: Callable[[int], Sizes], fits: Callable[[Sizes], bool]) -> Sizes:
    """Sizes by one number: the one that is given, else that with which the fewest switches hold all hosts that are planned, the least of
    equal ones; the largest where none does. A leaf has ports for one host at least."""
    least = max(nic.count for nic in request.nics.values())
    if given:
        return sizes(max(given, least))
    counted = []
    for n in range(least, most + 1):
        size = sizes(n)
        if not fits(size) or request.manager_ports > size.hosts:
            continue
        groups = -(-len(deal(request, seats_of(request), size.hosts)) // size.leaves)
        if groups <= size.groups:
            counted.append((groups * (size.leaves + size.spines), n))
    return sizes(min(counted)[1] if counted else max(most, 1))


def _laid(request: Request, size: Sizes) -> Shape:
    """Groups are laid in full; hosts fill one switch after another."""
    hosts, leaves, spines, reach, between = size
    bins = deal(request, seats_of(request), hosts)
    used = laid(bins)
    planned, built = -(-len(bins) // leaves), -(-used // leaves)
    most = size.groups
    if planned > most:
        raise FabricError("switch", f"{len(bins)} leaves make {planned} groups of {leaves}, and {reach} links of each switch reach {most - 1} other groups{f' with {between} each' if between > 1 else ''}, which makes at most {most * leaves * hosts:,} host ports", True)
    name = request.name
    bins += [[] for _ in range(built * leaves - len(bins))]
    groups = tuple(leaf_group(f"{name}-g{i // leaves + 1}-leaf{i % leaves + 1}", members) for i, members in enumerate(bins[: built * leaves]))
    pods = tuple(Pod(f"{name}-g{g + 1}", range(g * leaves, (g + 1) * leaves)) for g in range(built))
    trunks = Dragonfly(hosts, leaves, spines, reach, built, planned, max(request.link_gbps.values()), request.group.between)
    tops = tuple(f"{name}-g{g + 1}-spine{s + 1}" for g in range(built) for s in range(spines))
    reserved = hosts - request.manager_ports + 1 if request.manager_ports else 0
    return Shape(groups, tops, (), pods, trunks if leaves * built > 1 else None, reserved, Growth("groups", built, planned, planned))
