"""Rail-optimised fat-tree: GPU i of every node of a scalable unit goes to leaf i of that unit; spines join all leaves."""

from __future__ import annotations

from .model import SwitchGroup, Uplinks
from .shape import FabricError, Request, Shape
from .sizing import equal_links, up_for


def shape(request: Request) -> Shape:
    """Groups and spines. A unit's leaves are laid in full even where nodes are missing. Raises FabricError."""
    if len(request.pools) != 1:
        raise FabricError("connects", "a rail-optimised fabric connects exactly one pool")
    if request.unit is None:
        raise FabricError(None, "a rail-optimised fabric needs 'unit': the nodes of one scalable unit")
    pool, gbps = request.pools[0], request.host_gbps()
    rails, radix = request.nics[pool.name].count, request.switch.ports(gbps)
    if request.switch.uplink_gbps is not None:
        raise FabricError("switch", f"{request.switch.name} has separate uplink ports; a rail-optimised leaf needs ports of one speed")
    up = up_for(request.unit, request.oversubscription)
    if request.unit + up > radix:
        most = max(d for d in range(1, radix) if d + up_for(d, request.oversubscription) <= radix)
        raise FabricError("unit", f"{request.unit} host ports and {up} uplinks do not fit the {radix} ports of {request.switch.name} at {gbps} Gb/s; at most {most} nodes a unit")
    units = -(-pool.count // request.unit)
    members: list[list[str]] = [[] for _ in range(units)]
    for i, host in enumerate(pool.hosts):
        members[i % units if request.numbering == "round-robin" else i // request.unit].append(host)
    groups = tuple(
        SwitchGroup(f"{request.name}-su{u + 1}", tuple(f"{request.name}-su{u + 1}-leaf{r + 1}" for r in range(rails)), tuple(hosts)) for u, hosts in enumerate(members)
    )
    _manager_fits(request, groups, radix - up)
    return Shape(groups, *_spines(request, len(groups) * rails, up, radix, gbps))


def _manager_fits(request: Request, groups: tuple[SwitchGroup, ...], down: int) -> None:
    free = (down - len(groups[-1].hosts)) * len(groups[-1].leaves)
    if request.manager_ports > free:
        raise FabricError("manager", f"the manager takes {request.manager_ports} leaf ports and the last unit has {free} free; use one node fewer, or a smaller unit")


def _spines(request: Request, leaves: int, up: int, radix: int, gbps: int) -> tuple[tuple[str, ...], Uplinks | None]:
    links = equal_links(leaves, up, radix, gbps)
    if links is None:
        raise FabricError("switch", f"{leaves} leaves of {up} uplinks need three tiers of {radix}-port switches; two tiers carry at most {radix} leaves")
    return tuple(f"{request.name}-spine{s + 1}" for s in range(links.spines)), links
