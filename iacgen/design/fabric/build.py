"""One blueprint fabric → Fabric: adapters, speeds, shape, addresses."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ... import catalog
from ...blueprint.fabrics import Fabric as Wanted
from ...blueprint.fabrics import Qos as QosSection
from . import fat_tree, rail_fat_tree
from .managers import manager as manager_of
from .model import Fabric, Qos, SwitchGroup
from .shape import FabricError, Request

TOPOLOGIES = {"rail-fat-tree": rail_fat_tree.shape, "fat-tree": fat_tree.shape}
SUBNETS = {"management": "10.16.0.0/12", "storage": "10.32.0.0/12", "compute": "10.48.0.0/12"}


class PoolLike(Protocol):
    """What a fabric needs of a designed pool."""

    name: str
    system: catalog.System
    count: int
    width: int

    @property
    def hosts(self) -> tuple[str, ...]: ...


def build(name: str, wanted: Wanted, pools: Mapping[str, Any], manager_nic: catalog.HostNic | None = None) -> Fabric:
    """The designed fabric; ``manager_nic`` are ports for a manager that it does not connect. Raises FabricError with the key to blame."""
    on = [pools[p] for p in wanted.connects]
    switch = catalog.switch(wanted.switch)
    speaks = {"infiniband": {"infiniband"}, "roce": {"roce", "ethernet"}, "ethernet": {"ethernet"}}[wanted.technology]
    if not speaks & set(switch.technologies):
        raise FabricError("switch", f"{switch.name} does not speak {wanted.technology}")
    nics = {p.name: _nic(wanted, p) for p in on}
    speeds = {p: _speed(switch, nic) for p, nic in nics.items()}
    manager = manager_of(wanted, pools, manager_nic)
    request = Request(name, on, nics, speeds, switch, wanted.unit, wanted.numbering, wanted.oversubscription, manager.ports if manager else 0)
    shape = TOPOLOGIES[wanted.topology](request)
    subnet = wanted.subnet or SUBNETS[wanted.purpose]
    lossless = wanted.qos or QosSection()
    qos = Qos(**dict(lossless)) if wanted.technology == "roce" else None
    return Fabric(
        name, wanted.site, wanted.purpose, wanted.technology, wanted.topology, switch, wanted.connects, nics, speeds,
        wanted.unit, shape.groups, shape.spines, shape.uplinks, manager, qos, subnet, _blocks(subnet, on, nics), ("fabrics", name),
    )  # fmt: skip


def cloud(pool: Any) -> Fabric:
    """The fabric that a cloud hides: one group of all hosts, no switch, no address of ours."""
    nic = pool.system.nics["compute"]
    group = SwitchGroup(f"{pool.name}-placement", (f"{pool.name}-placement",), pool.hosts)
    return Fabric(
        f"{pool.name}-efa", pool.site, "compute", "efa", "cloud", None, (pool.name,), {pool.name: nic}, {pool.name: nic.gbps},
        None, (group,), (), None, None, None, None, {}, pool.origin,
    )  # fmt: skip


def _nic(wanted: Wanted, pool: PoolLike) -> catalog.HostNic:
    nic = pool.system.nics.get(wanted.purpose)
    if nic is None:
        raise FabricError("connects", f"{pool.system.name} (pool {pool.name}) has no {wanted.purpose} ports")
    technologies = set(catalog.nic(nic.nic).technologies)
    if wanted.technology not in technologies:
        raise FabricError("technology", f"the {wanted.purpose} ports of {pool.system.name} speak {', '.join(sorted(technologies))}, not {wanted.technology}")
    return nic


def _speed(switch: catalog.Switch, nic: catalog.HostNic) -> int:
    """Both ends run at the fastest speed that both have."""
    speeds = [g for g in switch.ports_by_gbps if g <= nic.gbps and g != switch.uplink_gbps]
    if not speeds:
        raise FabricError("switch", f"{switch.name} has no port as slow as {nic.gbps} Gb/s")
    return max(speeds)


def _blocks(subnet: str, pools: Sequence[PoolLike], nics: Mapping[str, catalog.HostNic]) -> dict[str, tuple[int, int]]:
    """Each pool owns one block for each of its rails, as long as its names can count, so that growth moves no address."""
    network = ipaddress.IPv4Network(subnet)
    at, blocks = int(network.network_address), {}
    for pool in pools:
        size = 1 << (10**pool.width).bit_length()
        at = -(-at // size) * size
        rails = nics[pool.name].count
        blocks[pool.name] = (at + 1, size)
        at += rails * size
    if at > int(network.broadcast_address) + 1:
        raise FabricError("subnet", f"{subnet} is too small: each pool owns a block of 2^n addresses for each rail, enough for every number of its width")
    return blocks
