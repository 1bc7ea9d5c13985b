"""Plain fat-tree of one or two tiers: every port of a host on one leaf, leaves filled one after another."""

from __future__ import annotations

from .model import SwitchGroup, Uplinks
from .shape import FabricError, Request, Shape
from .sizing import equal_links, split_ports, up_for


def shape(request: Request) -> Shape:
    """Leaves and spines; one leaf alone where all hosts fit on it. Raises FabricError."""
    ports = [(host, request.nics[pool.name].count) for pool in request.pools for host in pool.hosts]
    total = sum(n for _, n in ports) + request.manager_ports
    radix = _radix(request)
    if total <= radix:
        return Shape((SwitchGroup(f"{request.name}-leaf1", (f"{request.name}-leaf1",), tuple(h for h, _ in ports)),), (), None)
    down, links_of = _leaf(request, radix)
    bins = _deal(request, ports, down)
    if request.manager_ports and sum(request.nics[h.rstrip("0123456789")].count for h in bins[-1]) + request.manager_ports > down:
        bins.append([])
    names = [f"{request.name}-leaf{i + 1}" for i in range(len(bins))]
    uplinks = links_of(len(bins))
    if uplinks is None:
        raise FabricError("switch", f"{len(bins)} leaves of {request.switch.name} need three tiers")
    spines = tuple(f"{request.name}-spine{s + 1}" for s in range(uplinks.spines))
    return Shape(tuple(SwitchGroup(n, (n,), tuple(hosts)) for n, hosts in zip(names, bins, strict=True)), spines, uplinks)


def _radix(request: Request) -> int:
    """Host ports of a switch that has no uplinks. Mixed speeds share cages, so the fewest ports count."""
    return min(request.switch.ports(gbps) for gbps in request.link_gbps.values())


def _leaf(request: Request, radix: int):  # type: ignore[no-untyped-def]
    """(host ports of a leaf, leaves → uplinks). Switches with separate uplink ports get at least two uplinks each."""
    switch = request.switch
    fastest = max(request.link_gbps.values())
    if switch.uplink_gbps is None:
        down, up = split_ports(switch.ports(fastest), request.oversubscription)
        return down, lambda leaves: equal_links(leaves, up, switch.ports(fastest), fastest)
    spare = switch.ports(switch.uplink_gbps)
    need = up_for(-(-radix * fastest // switch.uplink_gbps), request.oversubscription)
    if need > spare:
        raise FabricError("oversubscription", f"{need} uplinks are needed and {switch.name} has {spare}")
    gbps = switch.uplink_gbps

    def links(leaves: int) -> Uplinks | None:
        return next((u for n in range(max(2, need), spare + 1) if (u := equal_links(leaves, n, spare, gbps))), None)

    return radix, links


def _deal(request: Request, ports: list[tuple[str, int]], down: int) -> list[list[str]]:
    """Hosts by leaf. Round-robin deals them over the fewest leaves that hold them all."""
    if any(n > down for _, n in ports):
        raise FabricError("switch", f"a host has more ports than the {down} host ports of a leaf")
    if request.numbering == "round-robin":
        for leaves in range(2, len(ports) + 1):
            bins = [[h for h, _ in ports[i::leaves]] for i in range(leaves)]
            if all(sum(n for _, n in ports[i::leaves]) <= down for i in range(leaves)):
                return bins
    filled: list[list[str]] = [[]]
    room = down
    for host, n in ports:
        if n > room:
            filled.append([])
            room = down
        filled[-1].append(host)
        room -= n
    return filled
