"""One blueprint fabric → Fabric: adapters, speeds, shape, addresses."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Protocol

from ... import catalog
from ...blueprint.fabrics import Fabric as Wanted
from ...blueprint.fabrics import Qos as QosSection
from . import dragonfly, fat_tree, rail_fat_tree
from .attached import Attached
from .choose import choose, speakers
from .managers import manager as manager_of
from .model import Fabric, Manager, Qos, SwitchGroup, Tier
from .names import as_ethernet
from .nearest import nearest
from .shape import FabricError, Group, Request, Shape
from .sound import rails_apart
from .upper import under_any

TOPOLOGIES: Mapping[str, Callable[[Request], Shape]] = {
    "rail-fat-tree": rail_fat_tree.shape,
    "fat-tree": fat_tree.shape,
    "rail-only": rail_fat_tree.only,
    "dragonfly": dragonfly.shape,
    "dragonfly-plus": dragonfly.plus,
}
SUBNETS = {"management": "10.16.0.0/12", "storage": "10.32.0.0/12", "compute": "10.48.0.0/12", "in-band": "10.64.0.0/12", "out-of-band": "10.80.0.0/12"}


class PoolLike(Protocol):
    """What a fabric needs of a designed pool."""

    name: str
    system: catalog.System
    count: int
    planned: int
    width: int

    @property
    def hosts(self) -> tuple[str, ...]: ...


def build(name: str, wanted: Wanted, pools: Mapping[str, Any], manager_nic: catalog.HostNic | None = None, near: bool = True, attached: Sequence[Attached] = ()) -> Fabric:
    """The designed fabric; ``manager_nic`` are ports for a manager that it does not connect, ``attached`` the switches that an
    out-of-band fabric reaches. Raises FabricError with the key to blame and, with ``near``, requests nearby that can be met."""
    try:
        return _built(name, wanted, pools, manager_nic, attached)
    except FabricError as error:
        raise (nearest(error, wanted, pools, lambda other, of: _built(name, other, of, manager_nic, attached)) if near else error) from error


def _built(name: str, wanted: Wanted, pools: Mapping[str, Any], manager_nic: catalog.HostNic | None, attached: Sequence[Attached]) -> Fabric:
    """Rails are taken for joined, except rail-only ones, until the fabric shows that they are not: then each has its own manager."""
    apart = wanted.topology == "rail-only"
    fabric = _assembled(name, wanted, pools, manager_nic, attached, apart)
    if not fabric.manager or rails_apart(fabric) == apart or apart:
        return fabric
    again = _assembled(name, wanted, pools, manager_nic, attached, True)
    if not rails_apart(again):
        raise FabricError("tiers", "with a manager for each rail the leaves need cores, which join the rails: say how many tiers there are")
    return again


def _assembled(name: str, wanted: Wanted, pools: Mapping[str, Any], manager_nic: catalog.HostNic | None, attached: Sequence[Attached], apart: bool) -> Fabric:
    on: list[Any] = [pools[p] for p in wanted.connects]
    nics = {p.name: _nic(wanted, p) for p in on} | {a.name: a.nic for a in attached}
    seated = [*on, *attached]
    rails = max(nic.count for nic in nics.values()) if apart else 1
    manager = manager_of(wanted, pools, manager_nic, wanted.planes * rails, rails > 1)
    switches = speakers(wanted.technology)
    above = _above(wanted, switches)

    def ask(switch: catalog.Switch) -> tuple[Request, Shape]:
        request = replace(_request(name, wanted, seated, nics, switch, manager), upper=above)
        request = replace(request, switch=_towards(switch, request), upper=above and _towards(above, request))
        if above is None and switch.uplink_gbps is not None:
            return under_any(request, TOPOLOGIES[wanted.topology], switches)
        return request, TOPOLOGIES[wanted.topology](request)

    if wanted.switch is None:
        request, shape = choose(ask, switches, {catalog.nic(nic.nic).vendor for nic in nics.values()})
    else:
        switch = catalog.switch(wanted.switch)
        if switch not in switches:
            raise FabricError("switch", f"{switch.name} does not speak {wanted.technology}")
        request, shape = ask(switch)
    subnet = wanted.subnet or SUBNETS[wanted.purpose]
    qos = Qos(**dict(wanted.qos or QosSection())) if wanted.technology == "roce" else None
    return Fabric(
        name, wanted.site, wanted.purpose, wanted.technology, wanted.topology, _tiers(request, shape, wanted.planes), wanted.connects, nics,
        request.link_gbps, wanted.unit, _in_planes(request, shape, wanted.planes), shape.pods, shape.trunks, manager, qos, subnet,
        _blocks(subnet, on, {p: 1 if wanted.purpose == "in-band" else nic.count for p, nic in nics.items()}, attached), ("fabrics", name), wanted.planes, shape.reserved, shape.growth, _os(wanted, request.switch), tuple(a for a in attached if a.count), wanted.interface,
    )  # fmt: skip


def _os(wanted: Wanted, switch: catalog.Switch) -> Literal["cumulus", "sonic"] | None:
    """Whose files the switches of a RoCE fabric get: what is asked for, else Cumulus where it runs on them."""
    if wanted.technology != "roce":
        return None
    return wanted.os or ("sonic" if "cumulus" not in switch.software and "sonic" in switch.software else "cumulus")


def _above(wanted: Wanted, switches: Sequence[catalog.Switch]) -> catalog.Switch | None:
    """The model of spines and cores where the blueprint names one. Raises FabricError."""
    if wanted.spine is None:
        return None
    above = catalog.switch(wanted.spine)
    if above not in switches:
        raise FabricError("spine", f"{above.name} does not speak {wanted.technology}")
    return above


def _request(name: str, wanted: Wanted, pools: Sequence[Any], nics: Mapping[str, catalog.HostNic], switch: catalog.Switch, manager: Manager | None) -> Request:
    group = wanted.group
    return Request(
        name, pools, nics, {p: _speed(switch, nic, wanted) for p, nic in nics.items()}, switch, wanted.unit, wanted.numbering,
        wanted.oversubscription, manager.in_plane(wanted.planes) if manager else 0, None,
        wanted.spine_oversubscription, wanted.tiers, wanted.spines, wanted.pod, wanted.rail_groups, wanted.cores == "fewest", wanted.split == "rotating",
        Group(**group.model_dump()) if group else Group(), wanted.units or (),
    )  # fmt: skip


def _towards(switch: catalog.Switch, request: Request) -> catalog.Switch:
    """The switch with the ports that all adapters can use; links between switches are counted like those of the hosts."""
    for pool, nic in request.nics.items():
        switch = switch.towards(request.link_gbps[pool], catalog.nic(nic.nic).form)
    return switch


def _tiers(request: Request, shape: Shape, planes: int) -> tuple[Tier, ...]:
    leaves = [leaf for group in shape.groups for leaf in group.leaves]
    kinds = (("leaf", request.switch, leaves), ("spine", request.above, shape.spines), ("core", request.above, shape.cores))
    return tuple(Tier(kind, switch, tuple(_in_plane(request.name, n, p, planes) for p in range(planes) for n in names)) for kind, switch, names in kinds if names)


def _in_planes(request: Request, shape: Shape, planes: int) -> tuple[SwitchGroup, ...]:
    if planes == 1:
        return shape.groups
    return tuple(replace(g, leaves=tuple(_in_plane(request.name, leaf, p, planes) for p in range(planes) for leaf in g.leaves)) for g in shape.groups)


def _in_plane(fabric: str, switch: str, plane: int, planes: int) -> str:
    return switch if planes == 1 else f"{fabric}-plane{plane + 1}{switch.removeprefix(fabric)}"


def cloud(pool: Any) -> Fabric:
    """The fabric that a cloud hides: one group of all hosts, no switch, no address of ours."""
    nic = pool.system.nics["compute"]
    group = SwitchGroup(f"{pool.name}-placement", (f"{pool.name}-placement",), pool.hosts, tuple(range(1, pool.count + 1)))
    return Fabric(
        f"{pool.name}-efa", pool.site, "compute", "efa", "cloud", (), (pool.name,), {pool.name: nic}, {pool.name: nic.gbps},
        None, (group,), (), None, None, None, None, {}, pool.origin,
    )  # fmt: skip


def _nic(wanted: Wanted, pool: PoolLike) -> catalog.HostNic:
    nic = pool.system.nics.get(wanted.purpose)
    if nic is None:
        raise FabricError("connects", f"{pool.system.name} (pool {pool.name}) has no {wanted.purpose} ports")
    technologies = set(catalog.nic(nic.nic).technologies)
    if wanted.technology not in technologies:
        raise FabricError("technology", f"the {wanted.purpose} ports of {pool.system.name} speak {', '.join(sorted(technologies))}, not {wanted.technology}")
    return nic if wanted.technology == "infiniband" else nic.model_copy(update={"interfaces": tuple(as_ethernet(n) for n in nic.interfaces)})


def _speed(switch: catalog.Switch, nic: catalog.HostNic, wanted: Wanted) -> int:
    """Both ends run at the fastest speed that both have; a port that is split over planes has a share of its speed on each."""
    planes, most = wanted.planes, catalog.nic(nic.nic).link_gbps(wanted.technology)
    speeds = [g for g in switch.ports_by_gbps if g * planes <= nic.gbps and g <= most and g != switch.uplink_gbps]
    if not speeds:
        each = f"{min(nic.gbps // planes, most)} Gb/s" + (f" on each of {planes} planes" if planes > 1 else "")
        raise FabricError("switch", f"{switch.name} has no port as slow as {each}")
    if planes > 1 and max(speeds) * planes != nic.gbps:
        raise FabricError("planes", f"a port of {nic.gbps} Gb/s does not split into {planes} links of a speed that {switch.name} has")
    return max(speeds)


def _blocks(subnet: str, pools: Sequence[PoolLike], addresses: Mapping[str, int], attached: Sequence[Attached]) -> dict[str, tuple[int, int]]:
    """Each pool owns one block for each of its rails, as long as its names can count, so that growth moves no address. Switches have
    the end of the subnet, counted backwards."""
    network = ipaddress.IPv4Network(subnet)
    if blocks := _laid(network, pools, addresses, attached):
        return blocks
    larger = next((bits for bits in range(network.prefixlen - 1, 7, -1) if _laid(network.supernet(new_prefix=bits), pools, addresses, attached)), None)
    would_do = f"; a /{larger} would do" if larger else ""
    raise FabricError("subnet", f"{subnet} is too small: each pool owns a block of 2^n addresses for each rail, enough for every number of its width{would_do}")


def _laid(network: ipaddress.IPv4Network, pools: Sequence[PoolLike], addresses: Mapping[str, int], attached: Sequence[Attached]) -> dict[str, tuple[int, int]] | None:
    """The blocks within a network; None where it is too small."""
    at, blocks = int(network.network_address), {}
    for pool in pools:
        size = 1 << (10**pool.width).bit_length()
        at = -(-at // size) * size
        rails = addresses[pool.name]
        blocks[pool.name] = (at + 1, size)
        at += rails * size
    last = int(network.broadcast_address) - 1
    blocks |= {a.name: (last - a.first, -1) for a in attached if a.count}
    kept = max(a.first + a.planned for a in attached) if attached else 0
    return None if at > last + 2 - kept else blocks
