"""Rail-optimised fat-tree: GPU i of every node of a scalable unit goes to leaf i of that unit; spines join all leaves.

Source of the layout: NVIDIA DGX SuperPOD reference architectures, network fabrics. ``rail_groups`` gives every rail spines of its
own, joined by cores (GB200) or by nothing but NVLink in the node (rail-only).
"""

from __future__ import annotations

from dataclasses import replace

from .model import Growth, Pod
from .shape import FabricError, Request, Shape
from .sizing import split_ports, up_for
from .tree import upper
from .units import Units, groups, seats, units_of


def shape(request: Request) -> Shape:
    """Groups and what joins them. A unit's leaves are laid in full even where nodes are missing. Raises FabricError."""
    rails, gbps = _rails(request), request.host_gbps()
    radix = request.switch.ports(gbps)
    if request.switch.uplink_gbps is not None:
        raise FabricError("switch", f"{request.switch.name} has separate uplink ports; a rail-optimised leaf needs ports of one speed")
    unit = request.unit or split_ports(radix, request.oversubscription)[0]
    up = up_for(unit, request.oversubscription)
    if unit + up > radix:
        most = split_ports(radix, request.oversubscription)[0]
        raise FabricError("unit", f"{unit} host ports and {up} uplinks do not fit the {radix} ports of {request.switch.name} at {gbps} Gb/s; at most {most} nodes a unit")
    slots = -(-request.manager_ports // rails)
    kept = max(0, slots - (radix - up - unit))  # a leaf may have more down-ports than a unit has nodes
    found = seats(request)
    standing = max((n for n, (_, there) in enumerate(found, 1) if there), default=0)
    rough = Units(unit, min(kept, unit - 1), request.units)
    built, planned = rough.of(standing), rough.of(len(found))
    if request.numbering == "round-robin":
        built = planned  # dealt over all that will stand, or the next unit would deal everybody anew
    above = upper(request, built, planned, rails, unit, radix - up, up, gbps)  # first, as a size that no switch carries says more than a place that is missing
    units = units_of(request, unit, kept, len(found))
    if not request.units and built > Units(unit, 0, ()).of(standing):
        raise FabricError("manager", f"the manager takes {request.manager_ports} leaf ports, and {standing:,} nodes fill {-(-standing // unit)} units of {unit}; use one node fewer, or a smaller unit")
    laid = groups(request, units, found, rails, built)
    reserved = radix - up - slots + 1 if slots else 0
    pods = _pods(request.name, built, above.pod_groups)
    return Shape(laid, above.spines, above.cores, pods, above.trunks, reserved, Growth("units", built, planned, above.most))


def only(request: Request) -> Shape:
    """Rail-only: nothing joins the rails; one leaf a rail where it has the ports for all nodes, else spines for each rail."""
    rails, gbps = _rails(request), request.host_gbps()
    radix, found = request.switch.ports(gbps), seats(request)
    kept, unit = -(-request.manager_ports // rails), min(request.unit or radix, radix)
    if not request.units and len(found) + kept <= unit and request.switch.uplink_gbps is None:
        laid = groups(request, Units(unit, kept, ()), found, rails, 1)
        return Shape(laid, reserved=unit - kept + 1 if kept else 0, growth=Growth("nodes", len(laid[0].hosts), len(found), unit - kept))
    return shape(replace(request, rail_groups=True, tiers=2))


def _rails(request: Request) -> int:
    """Ports of every node, each of which is a rail. Raises FabricError where pools differ."""
    rails = sorted({request.nics[pool.name].count for pool in request.pools})
    if len(rails) != 1:
        raise FabricError("connects", f"nodes of a fabric by rails have equally many ports, found {' and '.join(map(str, rails))}")
    return rails[0]


def _pods(name: str, groups: int, size: int | None) -> tuple[Pod, ...]:
    return tuple(Pod(f"{name}-pod{p + 1}", range(at, min(at + size, groups))) for p, at in enumerate(range(0, groups, size))) if size else ()
