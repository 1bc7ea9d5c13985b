"""What of a fabric a picture shows: all of it, one rail, or one group of a dragonfly; and who is joined to whom by how many links."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from iacgen.design.fabric.model import Array, Fabric, Joins, Links

HOST_ENDS = ("host-leaf", "manager-leaf")


@dataclass(frozen=True)
class View:
    """Switches by their number in ``Fabric.switch_names``: the leaves of each group that is shown, spines, cores; and the links
    among what is shown. ``rail`` counts from 0, None where all rails are."""

    fabric: Fabric
    links: tuple[Links, ...]
    leaves: tuple[tuple[int, ...], ...]
    spines: tuple[int, ...]
    cores: tuple[int, ...]
    rail: int | None = None

    @cached_property
    def all_leaves(self) -> tuple[int, ...]:
        """The leaves of all groups."""
        return tuple(leaf for group in self.leaves for leaf in group)

    @property
    def local(self) -> bool:
        """Whether leaves are joined to each other: those of a dragonfly are."""
        return self.fabric.topology == "dragonfly"

    @property
    def rails(self) -> int:
        """Leaves of a group on one plane."""
        return len(self.fabric.groups[0].leaves) // self.fabric.planes

    @cached_property
    def first_host(self) -> tuple[int, ...]:
        """Number of the first host of each group, and one past the last."""
        return (0, *np.cumsum([len(group.hosts) for group in self.fabric.groups]).tolist())

    @cached_property
    def pods_of_spines(self) -> dict[int, int]:
        """Spine → index of the pod whose leaves it joins; empty without pods. A spine without links yet is in the last."""
        fabric = self.fabric
        if not fabric.pods:
            return {}
        pod_of_group = np.repeat(np.arange(len(fabric.pods)), [len(pod.groups) for pod in fabric.pods])
        pod_of_leaf = np.zeros(fabric.switches, dtype=np.int64)
        for group, leaves in enumerate(self.leaves):
            pod_of_leaf[list(leaves)] = pod_of_group[group]
        found = np.full(fabric.switches, len(fabric.pods) - 1)
        for links in self.links:
            if links.joins == "leaf-spine":
                np.minimum.at(found, links.b, pod_of_leaf[links.a])
        return {spine: int(found[spine]) for spine in self.spines}

    def plane(self, switch: int) -> int:
        """The plane that a switch is in, from 0."""
        start = 0
        for tier in self.fabric.tiers:
            if switch < start + len(tier.names):
                return (switch - start) // (len(tier.names) // self.fabric.planes)
            start += len(tier.names)
        raise IndexError(switch)

    def hue(self, leaf: int, position: int) -> int | None:
        """By what a leaf is told from others, from 0: its rail, else its plane; None where there is one of either."""
        if self.fabric.planes > 1 and (self.rail is not None or not self.fabric.by_rail):
            return self.plane(leaf)
        return self.rail if self.rail is not None else position % self.rails if self.fabric.by_rail else None


def whole(fabric: Fabric) -> View:
    """The fabric with all that is in it."""
    number = {name: i for i, name in enumerate(fabric.switch_names)}
    leaves = tuple(tuple(number[leaf] for leaf in group.leaves) for group in fabric.groups)
    first, last = len(fabric.leaves), len(fabric.leaves) + len(fabric.spines)
    return View(fabric, fabric.links(), leaves, tuple(range(first, last)), tuple(range(last, fabric.switches)))


def rail(fabric: Fabric, number: int) -> View:
    """One rail of a fabric whose hosts have a leaf for each port: its leaf of every group, its port of every host, and the switches
    above that its leaves reach. Raises ValueError where there is no such rail."""
    everything = whole(fabric)
    rails = len(fabric.groups[0].leaves) // fabric.planes
    if not fabric.by_rail or not 0 <= number < rails:
        raise ValueError(f"{fabric.name} has no rail {number + 1}")
    leaves = tuple(tuple(group[plane * rails + number] for plane in range(fabric.planes)) for group in everything.leaves)
    kept = np.zeros(fabric.switches, dtype=bool)
    kept[[leaf for group in leaves for leaf in group]] = True
    links: list[Links] = []
    for found in everything.links:
        below = kept[found.b] if found.joins in HOST_ENDS else kept[found.a]
        links.append(_only(found, below))
        if found.joins == "leaf-spine":
            kept[found.b[below]] = True
        elif found.joins == "spine-core":
            kept[found.b[below]] = True
    return View(fabric, tuple(found for found in links if len(found)), leaves, _of(kept, everything.spines), _of(kept, everything.cores), number)


def _only(links: Links, kept: Array) -> Links:
    return replace(links, a=links.a[kept], a_port=links.a_port[kept], b=links.b[kept], b_port=links.b_port[kept])


def _of(kept: Array, switches: Sequence[int]) -> tuple[int, ...]:
    return tuple(switch for switch in switches if kept[switch])


@dataclass(frozen=True)
class Bundle:
    """All links of a kind between two lots of devices, ``a`` and ``b`` by number; ``by_gbps`` are the links of each speed.

    ``a_ports`` and ``b_ports`` are the switch ports of its links where it joins single devices, else empty.
    """

    joins: Joins
    a: int
    b: int
    by_gbps: tuple[tuple[int, int], ...]
    a_ports: tuple[int, ...] = ()
    b_ports: tuple[int, ...] = ()

    @property
    def links(self) -> int:
        """How many."""
        return sum(n for _, n in self.by_gbps)

    @property
    def told(self) -> str:
        """How many, of which speed."""
        if len(self.by_gbps) == 1:
            return f"{self.links:,} {'link' if self.links == 1 else 'links'} of {self.by_gbps[0][0]} Gb/s"
        return f"{self.links:,} links, " + " and ".join(f"{n:,} of {gbps} Gb/s" for gbps, n in self.by_gbps)


def bundles(view: View, of_switch: Array, of_host: Array, of_manager: Array, single: Array) -> list[Bundle]:
    """Links counted by the lots of their ends: ``of_switch`` and the others give each device its lot, -1 for one that is not drawn;
    ``single`` says which lots are one device. A pair of switches in one lot is a bundle of the lot with itself."""
    parts: dict[Joins, list[tuple[Array, ...]]] = {}
    for found in view.links:
        lots = {"host-leaf": of_host, "manager-leaf": of_manager}.get(found.joins, of_switch)
        a, b = lots[found.a], of_switch[found.b]
        drawn = (a >= 0) & (b >= 0)
        speed = np.full(int(drawn.sum()), found.gbps)
        parts.setdefault(found.joins, []).append((a[drawn], b[drawn], speed, found.a_port[drawn], found.b_port[drawn]))
    return [bundle for joins, arrays in parts.items() for bundle in _counted(joins, [np.concatenate(x) for x in zip(*arrays, strict=True)], single)]


def _counted(joins: Joins, ends: list[Array], single: Array) -> Iterable[Bundle]:
    a, b, gbps, a_port, b_port = ends
    order = np.lexsort((a_port, b, a))
    a, b, gbps, a_port, b_port = (x[order] for x in (a, b, gbps, a_port, b_port))
    starts = np.flatnonzero(np.r_[True, (np.diff(a) != 0) | (np.diff(b) != 0)][: len(a)]).tolist()
    for start, end in zip(starts, [*starts[1:], len(a)], strict=False):
        part = slice(start, end)
        one, two = int(a[start]), int(b[start])
        alone = bool(single[one] and single[two])
        ports = (tuple(a_port[part].tolist()) if alone and joins not in HOST_ENDS else (), tuple(sorted(b_port[part].tolist())) if alone else ())
        speeds, counts = np.unique(gbps[part], return_counts=True)
        yield Bundle(joins, one, two, tuple(zip(speeds.tolist(), counts.tolist(), strict=True)), *ports)
