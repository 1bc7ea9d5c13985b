"""A fabric as switch groups, counts and a wiring rule."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ...catalog import HostNic, Switch

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class SwitchGroup:
    """Leaves that share their hosts: the rail leaves of a scalable unit, or one leaf of a plain tree.

    ``hosts`` are in port order: host number j sits on down-port(s) j of every leaf of the group.
    """

    name: str
    leaves: tuple[str, ...]
    hosts: tuple[str, ...]


@dataclass(frozen=True)
class Manager:
    """Subnet manager: its kind, its hosts, and how many leaf ports it takes: none where the fabric connects its hosts anyway.

    ``nic`` holds the ports of each host that are cabled for it; None where the catalog knows none.
    """

    kind: Literal["ufm", "opensm"]
    hosts: tuple[str, ...]
    ports: int
    nic: HostNic | None = None


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
    """Physical cables by what they join."""

    host: int
    manager: int
    leaf_spine: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.host + self.manager + self.leaf_spine


@dataclass(frozen=True)
class Cable:
    """One link: two ends with a device and a port each."""

    a: str
    a_port: str
    b: str
    b_port: str
    gbps: int
    joins: Literal["host-leaf", "manager-leaf", "leaf-spine"]


@dataclass(frozen=True)
class Uplinks:
    """Every leaf has ``spines`` x ``parallel`` uplinks of ``gbps``: equal links for each pair of leaf and spine."""

    spines: int
    parallel: int
    gbps: int

    @property
    def count(self) -> int:
        """Uplinks of one leaf."""
        return self.spines * self.parallel


@dataclass(frozen=True)
class Fabric:
    """One network. ``ports`` gives the host ports of each pool on it; ``switch`` is None in a cloud, which shows none."""

    name: str
    site: str
    purpose: Literal["compute", "storage", "management"]
    technology: Literal["infiniband", "roce", "ethernet", "efa"]
    topology: Literal["rail-fat-tree", "fat-tree", "cloud"]
    switch: Switch | None
    pools: tuple[str, ...]
    nics: Mapping[str, HostNic]
    link_gbps: Mapping[str, int]
    unit: int | None
    groups: tuple[SwitchGroup, ...]
    spines: tuple[str, ...]
    uplinks: Uplinks | None
    manager: Manager | None
    qos: Qos | None
    subnet: str | None
    blocks: Mapping[str, tuple[int, int]]  # pool → (first host address, distance between rails), as integers
    origin: Path

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """All leaf switches, group by group."""
        return tuple(leaf for group in self.groups for leaf in group.leaves)

    @cached_property
    def group_of(self) -> dict[str, int]:
        """Host → index of its switch group."""
        return {host: i for i, group in enumerate(self.groups) for host in group.hosts}

    @cached_property
    def cables(self) -> CableCounts:
        """Counts, without expanding a single cable."""
        if self.switch is None:
            return CableCounts(0, 0, 0)
        host = sum(self.nics[h.rstrip("0123456789")].count for g in self.groups for h in g.hosts)
        uplinks = self.uplinks.count * len(self.leaves) if self.uplinks else 0
        return CableCounts(host, self.manager.ports if self.manager else 0, uplinks)

    @property
    def switches(self) -> int:
        """Leaves and spines; none in a cloud."""
        return len(self.leaves) + len(self.spines) if self.switch else 0

    @property
    def oversubscription(self) -> float:
        """Bandwidth that the fullest leaf takes from hosts over what it sends up; 1.0 without spines."""
        if not self.uplinks:
            return 1.0
        down = max(sum(self.leaf_ports(h) * self.link_gbps[h.rstrip("0123456789")] for h in g.hosts) for g in self.groups)
        return down / (self.uplinks.count * self.uplinks.gbps)

    def leaf_ports(self, host: str) -> int:
        """Ports that one host takes on one leaf."""
        return 1 if self.topology == "rail-fat-tree" else self.nics[host.rstrip("0123456789")].count

    def address(self, pool: str, index: int, rail: int = 0) -> ipaddress.IPv4Address:
        """Address of port ``rail`` of host ``index`` (both from 0). Raises KeyError for a pool that is not on this fabric."""
        first, stride = self.blocks[pool]
        return ipaddress.IPv4Address(first + rail * stride + index)

    def wiring(self) -> Iterator[Cable]:
        """Every cable with its ports, in a fixed order."""
        from .wiring import cables

        return cables(self)
