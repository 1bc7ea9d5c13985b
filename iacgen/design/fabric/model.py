"""A fabric as tiers of switches, groups of hosts and a wiring rule."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ...catalog import HostNic, Switch
from ...catalog.systems import Purpose

if TYPE_CHECKING:
    from .attached import Attached

Path = tuple[str | int, ...]
Array = NDArray[np.int64]
Joins = Literal["host-leaf", "manager-leaf", "leaf-spine", "spine-core", "leaf-leaf", "group-group"]
MANAGERS = 2  # a master and a standby, on the first hosts of their pool
Topology = Literal["rail-fat-tree", "fat-tree", "rail-only", "dragonfly", "dragonfly-plus", "cloud"]


@dataclass(frozen=True)
class Tier:
    """All switches of one rank, plane by plane. The routers of a dragonfly are leaves."""

    kind: Literal["leaf", "spine", "core"]
    switch: Switch
    names: tuple[str, ...]


@dataclass(frozen=True)
class SwitchGroup:
    """Leaves that share their hosts: the rail leaves of a scalable unit, or one leaf of a plain tree.

    ``hosts`` are in port order; ``ports`` gives the first down-port, counted from 1, of each on every leaf of the group.
    """

    name: str
    leaves: tuple[str, ...]
    hosts: tuple[str, ...]
    ports: tuple[int, ...]


@dataclass(frozen=True)
class Pod:
    """Switch groups that meet below the top of the fabric: a pod of three tiers, a group of a dragonfly."""

    name: str
    groups: range


@dataclass(frozen=True)
class Manager:
    """Subnet manager: its kind, its hosts, and how many leaf ports it takes: none where the fabric connects its hosts anyway.

    ``nic`` holds the ports of each host that are cabled for it; None where the catalog knows none. Of several ``subnets`` each is run
    by ``team`` hosts, a master and its standby; teams stand in a row, and each runs as many subnets in turn.
    """

    kind: Literal["ufm", "opensm"]
    hosts: tuple[str, ...]
    ports: int
    nic: HostNic | None = None
    subnets: int = 1
    team: int = MANAGERS

    @property
    def share(self) -> int:
        """How many subnets a team runs; the last one may have fewer."""
        return -(-self.subnets // max(1, len(self.hosts) // self.team))

    @property
    def each(self) -> int:
        """Leaf ports of one subnet."""
        return self.ports // self.subnets

    def in_plane(self, planes: int) -> int:
        """Leaf ports of one plane; that of a single subnet has them all in the first."""
        return self.ports if self.subnets == 1 else self.ports // planes

    def team_of(self, subnet: int) -> range:
        """The hosts that run subnet ``subnet``, from 0, as places in ``hosts``; the master first."""
        first = subnet // self.share * self.team
        return range(first, min(first + self.team, len(self.hosts)))

    def seats(self, subnet: int) -> list[tuple[int, int]]:
        """(place of the host in ``hosts``, number of its port among those of ``nic``) of each leaf port of a subnet."""
        team = self.team_of(subnet)
        first = subnet % self.share * -(-self.each // len(team))
        return [(team[k % len(team)], first + k // len(team)) for k in range(self.each)]


@dataclass(frozen=True)
class Qos:
    """The lossless class of a RoCE fabric."""

    dscp: int
    priority: int
    cnp_dscp: int
    cnp_priority: int

    @property
    def traffic_class(self) -> int:
        """The IP TOS byte: DSCP in the upper six bits, ECT(0) in the lower two."""
        return self.dscp * 4 + 2


@dataclass(frozen=True)
class CableCounts:
    """Physical cables by what they join. ``local`` and ``across`` are those within and between the groups of a dragonfly."""

    host: int = 0
    manager: int = 0
    leaf_spine: int = 0
    spine_core: int = 0
    local: int = 0
    across: int = 0

    @property
    def between_switches(self) -> int:
        """Those with a switch at both ends."""
        return self.leaf_spine + self.spine_core + self.local + self.across

    @property
    def total(self) -> int:
        """All of them."""
        return self.host + self.manager + self.between_switches


@dataclass(frozen=True)
class Cable:
    """One link: two ends with a device and a port each; ``a`` is the end nearer to the hosts."""

    a: str
    a_port: str
    b: str
    b_port: str
    gbps: int
    joins: Joins


@dataclass(frozen=True)
class Links:
    """Links of one kind and speed as arrays of equal length.

    ``a`` and ``b`` count switches within ``Fabric.switch_names``; for host links ``a`` counts within ``Fabric.hosts`` and ``a_port``
    is the port's number among those of the host on this fabric, from 0. Ports of switches count from 1 at the link's speed.
    """

    joins: Joins
    gbps: int
    a: Array
    a_port: Array
    b: Array
    b_port: Array

    def __len__(self) -> int:
        return len(self.a)


class Trunks(Protocol):
    """How the switches of one plane are joined. Switches count from 0: leaves, then spines, then cores."""

    @property
    def counts(self) -> Mapping[Joins, int]:
        """Links of each kind, without expanding one."""

    @property
    def group_gbps(self) -> int:
        """Bandwidth by which one leaf is joined to other switches, one direction."""

    @property
    def pod_gbps(self) -> int:
        """Bandwidth by which one pod is joined to the rest; 0 without pods."""

    @property
    def multipath(self) -> bool:
        """Whether two leaves are joined by more than one path."""

    def links(self) -> Iterator[Links]:
        """Every link of one plane."""


@dataclass(frozen=True)
class Growth:
    """How far the wiring reaches: ``unit`` names what is added, of which ``built`` stand, ``planned`` were sized for and at most
    ``most`` fit on the switches that are there without moving a cable."""

    unit: str
    built: int
    planned: int
    most: int


@dataclass(frozen=True)
class Fabric:
    """One network. ``nics`` gives the host ports of each pool on it; no tiers in a cloud, which shows no switch.

    With several ``planes`` the same fabric stands once a plane and a port of a host has one link to each. ``reserved`` is the
    number of the first down-port of the first group's leaves that is kept for the manager, 0 where it takes none.
    """

    name: str
    site: str
    purpose: Purpose
    technology: Literal["infiniband", "roce", "ethernet", "efa"]
    topology: Topology
    tiers: tuple[Tier, ...]
    pools: tuple[str, ...]
    nics: Mapping[str, HostNic]
    link_gbps: Mapping[str, int]
    unit: int | None
    groups: tuple[SwitchGroup, ...]
    pods: tuple[Pod, ...]
    trunks: Trunks | None
    manager: Manager | None
    qos: Qos | None
    subnet: str | None
    blocks: Mapping[str, tuple[int, int]]  # pool → (first host address, distance between rails), as integers
    origin: Path
    planes: int = 1
    reserved: int = 0
    growth: Growth | None = None
    os: Literal["cumulus", "sonic"] | None = None  # of the switches of a RoCE fabric
    attached: tuple[Attached, ...] = ()  # switches of other fabrics that it reaches, among its hosts after those of its pools
    interface: str | None = None  # what hosts call their bond or port on it, where the blueprint says so
    part: tuple[str, ...] = ()  # of a fabric in several subnets: which one this is, ("plane1", "rail3")

    @property
    def switch(self) -> Switch | None:
        """The model of the leaves; None in a cloud."""
        return self.tiers[0].switch if self.tiers else None

    @property
    def leaves(self) -> tuple[str, ...]:
        """All leaf switches, plane by plane and in a plane group by group."""
        return self._names("leaf")

    @property
    def spines(self) -> tuple[str, ...]:
        """All spines, none where one leaf is enough."""
        return self._names("spine")

    @property
    def cores(self) -> tuple[str, ...]:
        """The switches above the spines."""
        return self._names("core")

    def _names(self, kind: str) -> tuple[str, ...]:
        return next((tier.names for tier in self.tiers if tier.kind == kind), ())

    @cached_property
    def switch_names(self) -> tuple[str, ...]:
        """All switches: leaves, spines, cores."""
        return tuple(name for tier in self.tiers for name in tier.names)

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """All hosts, group by group in port order."""
        return tuple(host for group in self.groups for host in group.hosts)

    @cached_property
    def rank_order(self) -> tuple[str, ...]:
        """All hosts in the order of ranks that a job on all of them has: as they lie, but mixed on a dragonfly."""
        return self.mixed(self.hosts) if self.mixes else self.hosts

    @property
    def mixes(self) -> bool:
        """Whether ranks are mixed: side by side, all hosts of a group of a dragonfly send over its few links to one other group at once."""
        return self.topology.startswith("dragonfly") and len(self.pods) > 1 and self.trunks is not None

    def mixed(self, hosts: Sequence[str]) -> tuple[str, ...]:
        """These hosts of a dragonfly, given as they lie, in an order that no shift of ranks turns against one link."""
        from .minimal import Network
        from .scatter import scattered

        assert self.trunks
        network = Network.of(self.trunks.links(), self.switches // self.planes)
        leaf = [self.group_of[host] for host in hosts]  # a group of hosts has one leaf here
        return tuple(hosts[i] for i in scattered(network, leaf))

    @cached_property
    def group_of(self) -> dict[str, int]:
        """Host → index of its switch group."""
        return {host: i for i, group in enumerate(self.groups) for host in group.hosts}

    @property
    def switches(self) -> int:
        """How many switches; none in a cloud."""
        return len(self.switch_names)

    @property
    def by_rail(self) -> bool:
        """Whether every port of a host goes to a leaf of its own."""
        return self.topology in ("rail-fat-tree", "rail-only")

    @property
    def bonded(self) -> bool:
        """Whether the ports of a host share one address: those of an in-band network are one bond."""
        return self.purpose == "in-band"

    @property
    def multipath(self) -> bool:
        """Whether traffic between leaves has a choice of ways."""
        return self.trunks is not None and self.trunks.multipath

    @cached_property
    def cables(self) -> CableCounts:
        """Counts, without expanding a single cable. Where a port is split over planes, a cable carries a link of each, as NVIDIA
        counts them in the tables of its two-plane systems; lists of links then have a row for each plane."""
        if not self.tiers:
            return CableCounts()
        host = sum(self.nics[pool_of(h)].count for h in self.hosts)
        count = self.trunks.counts if self.trunks else {}
        switches = (count.get(joins, 0) for joins in ("leaf-spine", "spine-core", "leaf-leaf", "group-group"))
        return CableCounts(host, self.manager.ports if self.manager else 0, *switches)

    @property
    def oversubscription(self) -> float:
        """Bandwidth that the fullest leaf takes from hosts over what it sends to other switches; 1.0 where it sends nothing."""
        if self.trunks is None:
            return 1.0
        down = max((sum(self.leaf_ports(h) * self.link_gbps[pool_of(h)] for h in g.hosts) for g in self.groups), default=0)
        return down / self.trunks.group_gbps

    def leaf_ports(self, host: str) -> int:
        """Ports that one host takes on one leaf."""
        return 1 if self.by_rail else self.nics[pool_of(host)].count

    def group_Bps(self, group: SwitchGroup) -> float:
        """Bytes per second that may leave the leaves of a group, one direction; infinite where they are joined to no other."""
        return len(group.leaves) * self.trunks.group_gbps * 1e9 / 8 if self.trunks else np.inf

    def pod_Bps(self) -> float:
        """Bytes per second that may leave a pod, one direction."""
        return self.planes * self.trunks.pod_gbps * 1e9 / 8 if self.trunks and self.trunks.pod_gbps else np.inf

    def address(self, pool: str, index: int, rail: int = 0) -> ipaddress.IPv4Address:
        """Address of port ``rail`` of host ``index`` (both from 0). Raises KeyError for a pool that is not on this fabric."""
        first, stride = self.blocks[pool]
        return ipaddress.IPv4Address(first + (0 if self.bonded else rail * stride) + index)

    @cached_property
    def subnets(self) -> tuple[Fabric, ...]:
        """Each subnet as a fabric by itself, plane by plane and in a plane rail by rail; the fabric where that is one."""
        from .subnets import subnets

        return subnets(self)

    @property
    def folder(self) -> str:
        """Where the files of a subnet lie below those of its fabric, ``plane1-rail3``; empty for a whole one."""
        return "-".join(self.part)

    def links(self) -> tuple[Links, ...]:
        """Every link with its ports, as arrays, in a fixed order."""
        return tuple(self.each())

    def each(self) -> Iterator[Links]:
        """The same one array at a time, for what needs no two of them at once."""
        from .wiring import links

        return links(self)

    def wiring(self) -> Iterator[Cable]:
        """Every link with its ports, by name, in a fixed order."""
        from .wiring import cables

        return cables(self)


def pool_of(host: str) -> str:
    """The pool in the name of a host."""
    return host.rstrip("0123456789")
