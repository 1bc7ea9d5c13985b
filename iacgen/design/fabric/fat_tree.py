"""Plain fat-tree of one, two or three tiers: every port of a host on one leaf, leaves filled one after another."""

from __future__ import annotations

from collections.abc import Iterator

from .model import Growth, Pod, SwitchGroup
from .shape import FabricError, Request, Shape
from .sizing import spines_for, split_ports, up_for
from .tree import Upper, upper

Seat = tuple[str, int, bool]  # host, its ports, whether it stands already


def shape(request: Request) -> Shape:
    """Leaves and what joins them; one leaf alone where all hosts fit on it. Raises FabricError."""
    seats = list(seats_of(request))
    total = sum(n for _, n, _ in seats) + request.manager_ports
    radix = min(request.switch.ports(gbps) for gbps in request.link_gbps.values())  # mixed speeds share cages: the fewest ports count
    if total <= radix and request.tiers is None:
        leaf = leaf_group(f"{request.name}-leaf1", seats)
        reserved = radix - request.manager_ports + 1 if request.manager_ports else 0
        return Shape((leaf,), reserved=reserved, growth=Growth("ports", sum(n for _, n, there in seats if there) + request.manager_ports, total, radix))
    down, uplinks, gbps = _uplinks(request, radix)
    bins = deal(request, seats, down)
    groups = tuple(leaf_group(f"{request.name}-leaf{i + 1}", members) for i, members in enumerate(bins))
    built = max((i for i, g in enumerate(groups) if g.hosts), default=0) + 1
    above = _upper(request, built, len(bins), down, uplinks, gbps)
    pods = tuple(Pod(f"{request.name}-pod{p + 1}", range(at, min(at + above.pod_groups, built))) for p, at in enumerate(range(0, built, above.pod_groups))) if above.pod_groups else ()
    reserved = down - request.manager_ports + 1 if request.manager_ports else 0
    return Shape(groups[:built], above.spines, above.cores, pods, above.trunks, reserved, Growth("leaves", built, len(bins), above.most))


def seats_of(request: Request) -> Iterator[Seat]:
    """Every host that is planned, pool by pool."""
    for pool in request.pools:
        for i in range(pool.planned):
            yield pool.host(i), request.nics[pool.name].count, i < pool.count


def leaf_group(name: str, seats: list[Seat]) -> SwitchGroup:
    """One leaf and the hosts on it, with room for those that are only planned."""
    hosts, ports, at = [], [], 1
    for host, n, there in seats:
        if there:
            hosts.append(host)
            ports.append(at)
        at += n
    return SwitchGroup(name, (name,), tuple(hosts), tuple(ports))


def _uplinks(request: Request, radix: int) -> tuple[int, int, int]:
    """(host ports of a leaf, fewest uplinks, their speed). Switches with separate uplink ports get at least two uplinks each."""
    switch, fastest = request.switch, max(request.link_gbps.values())
    if switch.uplink_gbps is None:
        return *split_ports(switch.ports(fastest), request.oversubscription), fastest
    spare = switch.ports(switch.uplink_gbps)
    need = up_for(-(-radix * fastest // switch.uplink_gbps), request.oversubscription)
    if need > spare:
        raise FabricError("oversubscription", f"{need} uplinks are needed and {switch.name} has {spare}")
    return radix, max(2, need), switch.uplink_gbps


def _upper(request: Request, built: int, planned: int, down: int, uplinks: int, gbps: int) -> Upper:
    separate = request.switch.uplink_gbps is not None
    if not request.above.ports(gbps):
        raise FabricError("spine", f"{request.above.name} has no ports of {gbps} Gb/s, the speed of the leaves' uplinks")
    most = request.switch.ports(gbps) if separate else uplinks
    # A leaf with ports set apart for uplinks may use more of them than it needs, where only that divides evenly.
    fit = next((n for n in range(uplinks, most + 1) if spines_for(planned, n, request.above.ports(gbps))), uplinks)
    return upper(request, built, planned, 1, down, down if separate else request.switch.ports(gbps) - fit, fit, gbps)


def deal(request: Request, seats: list[Seat], down: int) -> list[list[Seat]]:
    """Hosts by leaf of ``down`` ports, the first of which keeps some for the manager. Round-robin deals them over the fewest leaves."""
    if any(n > down for _, n, _ in seats):
        raise FabricError("switch", f"a host has more ports than the {down} host ports of a leaf", True)
    if request.manager_ports > down:
        raise FabricError("manager", f"the manager takes {request.manager_ports} of the {down} host ports of a leaf")
    if request.numbering == "round-robin":
        each = [n for _, n, _ in seats]
        fewest = max(-(-(sum(each) + request.manager_ports) // down), -(-len(seats) // (down // min(each, default=1))))
        for leaves in range(max(2, fewest), len(seats) + 1):
            bins = [seats[i::leaves] for i in range(leaves)]
            if all(sum(n for _, n, _ in members) <= down - (0 if i else request.manager_ports) for i, members in enumerate(bins)):
                return bins
    filled: list[list[Seat]] = [[]]
    room = down - request.manager_ports
    for seat in seats:
        if seat[1] > room:
            filled.append([])
            room = down
        filled[-1].append(seat)
        room -= seat[1]
    return filled
