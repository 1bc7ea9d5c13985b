"""Which address, number and name each device of a fabric has: the plan that its configuration follows."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping, Sequence

from ...design.fabric.model import Fabric, Tier
from ...design.model import Design, Pool
from ...render import csv_text

# Loopbacks of switches: shared address space (RFC 6598), in which no network of a cluster lies. Every fabric may use all of it, since
# none is joined to another. A tier has room for 16 planes of 16,384 switches, so that no growth moves an address.
_LOOPBACKS = int(ipaddress.IPv4Address("100.64.0.0"))
_TIER, _PLANE = 1 << 18, 1 << 14
# First of the 4-byte numbers for private use (RFC 6996), left out itself.
_FIRST_ASN = 4_200_000_000
_SHARED = re.compile(r"(spine|core)\d+$")
_KINDS = ("leaf", "spine", "core")

ROUTED = ("device", "kind", "role", "rail", "port", "address", "prefix", "asn")
NAMED = ("kind", "description", "role", "device", "port", "guids", "state")


def loopbacks(fabric: Fabric) -> dict[str, ipaddress.IPv4Address]:
    """Loopback of each switch."""
    out = {}
    for tier in fabric.tiers:
        each = len(tier.names) // fabric.planes
        base = _LOOPBACKS + _KINDS.index(tier.kind) * _TIER
        out |= {name: ipaddress.IPv4Address(base + i // each * _PLANE + i % each + 1) for i, name in enumerate(tier.names)}
    return out


def autonomous_systems(fabric: Fabric) -> dict[str, int]:
    """BGP number of each switch, by RFC 7938, section 5.2: a leaf has its own, the spines of a pod share one and so do the cores, so that
    no route goes down and up again. Routers of a dragonfly are leaves. The number follows from a loopback, so growth moves none."""
    own = {name: _FIRST_ASN + int(address) - _LOOPBACKS for name, address in loopbacks(fabric).items()}
    first: dict[str, int] = {}
    return {name: first.setdefault(_SHARED.sub("", name) if _SHARED.search(name) else name, number) for name, number in own.items()}


def routed_plan(design: Design, fabric: Fabric) -> str:
    """``plan.csv`` of an Ethernet fabric: switches with loopback and AS number where they route, hosts with the address of each port."""
    routing = routes(fabric)
    addresses, numbers = loopbacks(fabric), autonomous_systems(fabric)

    def rows() -> Iterator[Sequence[object]]:
        yield ROUTED
        for tier in fabric.tiers:
            for name in tier.names:
                yield (name, "switch", tier.kind, None, "lo" if routing else None, *((str(addresses[name]), 32, numbers[name]) if routing else (None, None, None)))
        prefix = ipaddress.IPv4Network(fabric.subnet).prefixlen if fabric.subnet else None
        for pool, host in _hosts(design, fabric):
            for rail in range(fabric.nics[pool.name].count):
                yield (host, "host", pool.name, rail, _port(fabric, pool, rail), str(fabric.address(pool.name, pool.index(host), rail)), prefix, None)
        for run in fabric.attached:
            for i in range(run.count):
                yield (run.host(i), "management-port", run.fabric, None, run.port, str(fabric.address(run.name, 0, i)), prefix, None)

    return csv_text(rows())


def routes(fabric: Fabric) -> bool:
    """Whether the switches of a fabric are routers: RoCE over several of them. A management network is one segment."""
    return fabric.technology == "roce" and fabric.trunks is not None


def named_plan(design: Design, fabric: Fabric) -> str:
    """``plan.csv`` of an InfiniBand fabric: by which node description each switch and adapter is known, and into which file of the
    subnet manager its GUID goes. GUIDs themselves are burnt into the hardware: ``guids.sh`` reads them off the fabric by these names.

    The description of an adapter is host and device, as rdma-ndd sets it; without a device any adapter of the host will do.
    """

    def rows() -> Iterator[Sequence[object]]:
        yield NAMED
        top = top_tier(fabric)
        for tier in fabric.tiers:
            for name in tier.names:
                yield ("switch", name, tier.kind, name, None, "root" if tier is top else None, "expected")
        counted = computes(design, fabric)
        for pool, host in _hosts(design, fabric):
            names = fabric.nics[pool.name].rdma_names
            for rail in range(fabric.nics[pool.name].count):
                device = names[rail] if names else None
                guids = "cn" if pool.name in counted else None
                yield ("adapter", f"{host} {device}" if device else host, pool.name, host, device, guids, "down" if host in pool.down else "expected")
        yield from _managers(design, fabric)

    return csv_text(rows())


def _managers(design: Design, fabric: Fabric) -> Iterator[Sequence[object]]:
    manager = fabric.manager
    if not manager or not manager.ports:
        return
    names = manager.nic.rdma_names if manager.nic else ()
    for at, port in (seat for subnet in range(manager.subnets) for seat in manager.seats(subnet)):
        host = manager.hosts[at]
        device = names[port] if port < len(names) else None
        state = "down" if host in design.pool_of(host).down else "expected"
        yield ("adapter", f"{host} {device}" if device else host, "manager", host, device, None, state)


def top_tier(fabric: Fabric) -> Tier | None:
    """The tier that routes turn round at; None where there is one tier alone, and in a dragonfly, which has no top."""
    return fabric.tiers[-1] if len(fabric.tiers) > 1 and not fabric.topology.startswith("dragonfly") else None


def computes(design: Design, fabric: Fabric) -> frozenset[str]:
    """Pools whose ports carry the traffic between nodes that routes are balanced for, where others are on the fabric beside them."""
    gpus = frozenset(name for name in fabric.pools if design.pools[name].gpu)
    beside = len(gpus) < len(fabric.pools) or bool(fabric.manager and fabric.manager.ports)
    return gpus if fabric.purpose == "compute" and beside and top_tier(fabric) else frozenset()


def _hosts(design: Design, fabric: Fabric) -> Iterator[tuple[Pool, str]]:
    pools: Mapping[str, Pool] = design.pools
    return ((pools[name], host) for name in fabric.pools for host in pools[name].hosts)


def _port(fabric: Fabric, pool: Pool, rail: int) -> str | None:
    nic = fabric.nics[pool.name]
    names = nic.interfaces or nic.rdma_names
    return names[rail] if names else None
