"""The subnets of an InfiniBand fabric: planes and rails that nothing joins are each one of its own, with its own manager."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ...catalog import HostNic
from .model import Fabric, Manager, SwitchGroup, Tier, pool_of
from .sound import parts, rails_apart
from .tree import Tree


def subnets(fabric: Fabric) -> tuple[Fabric, ...]:
    """Each subnet as a fabric by itself, plane by plane and in a plane rail by rail; the fabric where that is one.

    Switches, hosts and ports are those of the whole, by the same names; a host's port is named without its plane, as one subnet sees
    one port of an adapter. ``name`` is ``compute.plane1.rail3``: no fabric has a dot in its own.
    """
    count = parts(fabric)
    if count == 1:
        return (fabric,)
    rails = count // fabric.planes
    return tuple(_subnet(fabric, number, *divmod(number, rails), rails) for number in range(count))


class Bound(NamedTuple):
    """What a manager binds to: an RDMA device of its host, None where the catalog knows no name, and the number of its port."""

    device: str | None
    port: int


def bound(whole: Fabric, subnet: Fabric) -> tuple[Bound, ...]:
    """The ports of each of its managers' hosts in one of several subnets. An adapter that is split over planes has a port in each."""
    manager = subnet.manager
    if manager is None:
        return ()
    if manager.ports:
        names, count = (manager.nic.rdma_names if manager.nic else ()), -(-manager.ports // len(manager.hosts))
        return tuple(Bound(names[i] if names else None, 1) for i in range(count))
    names = subnet.nics[pool_of(manager.hosts[0])].rdma_names
    plane = [s.part for s in whole.subnets].index(subnet.part) // (parts(whole) // whole.planes)
    return (Bound(names[0] if names else None, plane + 1),)


def _subnet(fabric: Fabric, number: int, plane: int, rail: int, rails: int) -> Fabric:
    words = [*([f"plane{plane + 1}"] if fabric.planes > 1 else []), *([f"rail{rail + 1}"] if rails > 1 else [])]
    trunks = fabric.trunks
    if rails > 1 and isinstance(trunks, Tree):
        trunks = replace(trunks, leaves=trunks.leaves // rails, apart=1)
    return replace(
        fabric,
        name=".".join((fabric.name, *words)),
        part=tuple(words),
        tiers=tuple(_tier(tier, _share(tier.names, fabric.planes, plane), rails, rail) for tier in fabric.tiers),
        nics={pool: some_ports(nic, range(rail, rail + 1)) for pool, nic in fabric.nics.items()} if rails > 1 else fabric.nics,
        groups=tuple(_group(group, _share(group.leaves, fabric.planes, plane), rails, rail) for group in fabric.groups),
        trunks=trunks,
        manager=_manager(fabric.manager, number) if fabric.manager and fabric.manager.subnets > number else None,
        blocks={pool: (first + rail * stride, stride) for pool, (first, stride) in fabric.blocks.items()},
        planes=1,
        attached=(),
    )


def some_ports(nic: HostNic, numbers: range) -> HostNic:
    """The same adapters of a host, of which only those with these numbers."""
    named = {key: tuple(known[i] for i in numbers) for key in ("rdma_names", "interfaces", "pci", "cages", "sockets") if (known := getattr(nic, key))}
    return nic.model_copy(update={"count": len(numbers), **named})


def _share(names: Sequence[str], shares: int, number: int) -> tuple[str, ...]:
    each = len(names) // shares
    return tuple(names[number * each : (number + 1) * each])


def _tier(tier: Tier, names: tuple[str, ...], rails: int, rail: int) -> Tier:
    """Leaves lie rail by rail in every unit, spines rail by rail."""
    return replace(tier, names=names[rail::rails] if tier.kind == "leaf" else _share(names, rails, rail))


def _group(group: SwitchGroup, leaves: tuple[str, ...], rails: int, rail: int) -> SwitchGroup:
    return replace(group, leaves=leaves[rail::rails])


def _manager(manager: Manager, subnet: int) -> Manager:
    team, nic = manager.team_of(subnet), manager.nic
    numbers = sorted({port for _, port in manager.seats(subnet)})
    own = some_ports(nic, range(numbers[0], numbers[-1] + 1)) if nic and numbers else None
    return Manager(manager.kind, tuple(manager.hosts[i] for i in team), manager.each, own, 1, len(team))
