"""Plain fat-tree of one, two or three tiers: every port of a host on one leaf, leaves filled one after another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .model import Growth, Pod, SwitchGroup
from .shape import FabricError, PoolLike, Request, Shape
from .sizing import spines_for, split_ports, up_for
from .tree import Upper, upper


class Stretch(NamedTuple):
    """Planned hosts of one pool, by their numbers from 0, with their ports each: counted at once, however many they are."""

    pool: PoolLike
    numbers: range
    ports: int

    @property
    def taken(self) -> int:
        """Ports of a leaf that they take."""
        return len(self.numbers) * self.ports

    @property
    def standing(self) -> range:
        """The numbers of those that are there already."""
        step = self.numbers.step
        return range(self.numbers.start, min(self.numbers.stop, max(self.numbers.start, self.pool.count)), step)


def shape(request: Request) -> Shape:
    """Leaves and what joins them; one leaf alone where all hosts fit on it. Raises FabricError."""
    seats = seats_of(request)
    total = sum(s.taken for s in seats) + request.manager_ports
    radix = min(request.switch.ports(gbps) for gbps in request.link_gbps.values())  # mixed speeds share cages: the fewest ports count
    if total <= radix and request.tiers is None:
        leaf = leaf_group(f"{request.name}-leaf1", seats)
        reserved = radix - request.manager_ports + 1 if request.manager_ports else 0
        return Shape((leaf,), reserved=reserved, growth=Growth("ports", sum(len(s.standing) * s.ports for s in seats) + request.manager_ports, total, radix))
    down, uplinks, gbps = _uplinks(request, radix)
    bins = deal(request, seats, down)
    built = laid(bins)
    above = _upper(request, built, len(bins), down, uplinks, gbps)
    groups = tuple(leaf_group(f"{request.name}-leaf{i + 1}", members) for i, members in enumerate(bins[:built]))
    pods = tuple(Pod(f"{request.name}-pod{p + 1}", range(at, min(at + above.pod_groups, built))) for p, at in enumerate(range(0, built, above.pod_groups))) if above.pod_groups else ()
    reserved = down - request.manager_ports + 1 if request.manager_ports else 0
    return Shape(groups, above.spines, above.cores, pods, above.trunks, reserved, Growth("leaves", built, len(bins), above.most))


def seats_of(request: Request) -> list[Stretch]:
    """Every host that is planned, pool by pool."""
    return [Stretch(pool, range(pool.planned), request.nics[pool.name].count) for pool in request.pools if pool.planned]


def laid(bins: list[list[Stretch]]) -> int:
    """How many of the leaves are laid: those up to the last one with a host that stands."""
    return next((i + 1 for i in range(len(bins) - 1, 0, -1) if any(s.standing for s in bins[i])), 1)


def leaf_group(name: str, members: list[Stretch]) -> SwitchGroup:
    """One leaf and the hosts on it, with room for those that are only planned."""
    hosts, ports, at = [], [], 1
    for s in members:
        there = s.standing
        known = getattr(s.pool, "hosts", None)  # of a designed pool, named once for all fabrics that are tried
        hosts += known[there.start : there.stop : there.step] if known is not None else [s.pool.host(i) for i in there]
        ports += [at + n * s.ports for n in range(len(there))]
        at += s.taken
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


def deal(request: Request, seats: list[Stretch], down: int) -> list[list[Stretch]]:
    """Hosts by leaf of ``down`` ports, the first of which keeps some for the manager. Round-robin deals them over the fewest leaves."""
    if any(s.ports > down for s in seats):
        raise FabricError("switch", f"a host has more ports than the {down} host ports of a leaf", True)
    if request.manager_ports > down:
        raise FabricError("manager", f"the manager takes {request.manager_ports} of the {down} host ports of a leaf")
    if request.numbering == "round-robin":
        total = sum(len(s.numbers) for s in seats)
        fewest = max(-(-(sum(s.taken for s in seats) + request.manager_ports) // down), -(-total // (down // min((s.ports for s in seats), default=1))))
        for leaves in range(max(2, fewest), total + 1):
            bins = [list(_every(seats, i, leaves)) for i in range(leaves)]
            if all(sum(s.taken for s in members) <= down - (0 if i else request.manager_ports) for i, members in enumerate(bins)):
                return bins
    filled: list[list[Stretch]] = [[]]
    room = down - request.manager_ports
    for s in seats:
        at, end = s.numbers.start, s.numbers.stop
        while at < end:
            if s.ports > room:
                filled.append([])
                room = down
            more = min(end - at, room // s.ports)
            filled[-1].append(Stretch(s.pool, range(at, at + more), s.ports))
            at, room = at + more, room - more * s.ports
    return filled


def _every(seats: list[Stretch], first: int, step: int) -> Iterator[Stretch]:
    """Each ``step``-th host from ``first`` on, over all pools."""
    before = 0
    for s in seats:
        if numbers := s.numbers[(first - before) % step :: step]:
            yield Stretch(s.pool, numbers, s.ports)
        before += len(s.numbers)
