"""Rail-optimised fat-tree: GPU i of every node of a scalable unit goes to leaf i of that unit; spines join all leaves.

Source of the layout: NVIDIA DGX SuperPOD reference architectures, network fabrics. ``rail_groups`` gives every rail spines of its
own, joined by cores (GB200) or by nothing but NVLink in the node (rail-only).
"""

from __future__ import annotations

from dataclasses import replace

from .model import Growth, Pod, SwitchGroup
from .shape import FabricError, Request, Shape
from .sizing import split_ports, up_for
from .tree import upper


def shape(request: Request) -> Shape:
    """Groups and what joins them. A unit's leaves are laid in full even where nodes are missing. Raises FabricError."""
    if len(request.pools) != 1:
        raise FabricError("connects", "a rail-optimised fabric connects exactly one pool")
    pool, gbps = request.pools[0], request.host_gbps()
    rails, radix = request.nics[pool.name].count, request.switch.ports(gbps)
    if request.switch.uplink_gbps is not None:
        raise FabricError("switch", f"{request.switch.name} has separate uplink ports; a rail-optimised leaf needs ports of one speed")
    unit = request.unit or split_ports(radix, request.oversubscription)[0]
    up = up_for(unit, request.oversubscription)
    if unit + up > radix:
        most = split_ports(radix, request.oversubscription)[0]
        raise FabricError("unit", f"{unit} host ports and {up} uplinks do not fit the {radix} ports of {request.switch.name} at {gbps} Gb/s; at most {most} nodes a unit")
    slots = -(-request.manager_ports // rails)
    kept = max(0, slots - (radix - up - unit))  # a leaf may have more down-ports than a unit has nodes
    units, planned = -(-(pool.count + kept) // unit), -(-(pool.planned + kept) // unit)
    if request.numbering == "round-robin":
        units = planned  # dealt over all that will stand, or the next unit would deal everybody anew
    above = upper(request, units, planned, rails, unit, radix - up, up, gbps)  # first, as a size that no switch carries says more than a place that is missing
    groups = _units(request, unit, rails, kept, units)
    reserved = radix - up - slots + 1 if slots else 0
    pods = _pods(request.name, len(groups), above.pod_groups)
    return Shape(groups, above.spines, above.cores, pods, above.trunks, reserved, Growth("units", len(groups), planned, above.most))


def only(request: Request) -> Shape:
    """Rail-only: nothing joins the rails; one leaf a rail where it has the ports for all nodes, else spines for each rail."""
    pool, gbps = request.pools[0], request.host_gbps()
    radix, rails = request.switch.ports(gbps), request.nics[pool.name].count
    kept, unit = -(-request.manager_ports // rails), min(request.unit or radix, radix)
    if len(request.pools) == 1 and pool.planned + kept <= unit and request.switch.uplink_gbps is None:
        leaves = tuple(f"{request.name}-su1-leaf{r + 1}" for r in range(rails))
        group = SwitchGroup(f"{request.name}-su1", leaves, tuple(pool.host(i) for i in range(pool.count)), tuple(range(1, pool.count + 1)))
        return Shape((group,), reserved=unit - kept + 1 if kept else 0, growth=Growth("nodes", pool.count, pool.planned, unit - kept))
    return shape(replace(request, rail_groups=True, tiers=2))


def _units(request: Request, unit: int, rails: int, kept: int, units: int) -> tuple[SwitchGroup, ...]:
    """The units. The manager keeps the last ``kept`` places of the first, so that growth moves neither it nor a host."""
    pool = request.pools[0]
    full = -(-pool.count // unit)
    if kept >= unit or -(-(pool.count + kept) // unit) > full:
        raise FabricError("manager", f"the manager takes {request.manager_ports} leaf ports, and {pool.count:,} nodes fill {full} units of {unit}; use one node fewer, or a smaller unit")
    members = _dealt(pool.count, units, unit, kept, request.numbering)
    return tuple(
        SwitchGroup(
            f"{request.name}-su{u + 1}", tuple(f"{request.name}-su{u + 1}-leaf{r + 1}" for r in range(rails)),
            tuple(pool.host(i) for i in numbers), tuple(range(1, len(numbers) + 1)),
        )
        for u, numbers in enumerate(members)
    )  # fmt: skip


def _dealt(count: int, units: int, unit: int, kept: int, numbering: str) -> list[range | list[int]]:
    if numbering != "round-robin":
        starts = [0, *range(unit - kept, count, unit)]
        return [range(at, min(end, count)) for at, end in zip(starts, [*starts[1:], count], strict=True)]
    members: list[range | list[int]] = [[] for _ in range(units)]
    room = [unit - kept, *[unit] * (units - 1)]
    turn = 0
    for i in range(count):
        while len(members[turn % units]) == room[turn % units]:
            turn += 1
        members[turn % units].append(i)  # type: ignore[union-attr]
        turn += 1
    return members


def _pods(name: str, groups: int, size: int | None) -> tuple[Pod, ...]:
    return tuple(Pod(f"{name}-pod{p + 1}", range(at, min(at + size, groups))) for p, at in enumerate(range(0, groups, size))) if size else ()
