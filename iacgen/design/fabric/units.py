"""Which node of which pool lies in which scalable unit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from .model import SwitchGroup
from .shape import FabricError, Request


@dataclass(frozen=True)
class Units:
    """Units of ``unit`` places each. ``uneven`` says how many nodes the first ones hold, where they are not full; of the first one
    ``kept`` places belong to the fabric's manager."""

    unit: int
    kept: int
    uneven: tuple[int, ...]

    def room(self, index: int) -> int:
        """Nodes that unit ``index`` holds."""
        if index < len(self.uneven):
            return self.uneven[index]
        return self.unit - (self.kept if index == 0 else 0)

    def of(self, nodes: int) -> int:
        """Units that so many nodes fill, one after another."""
        if nodes <= 0:
            return 0
        first = max(1, len(self.uneven))
        held = 0
        for index in range(first):
            held += self.room(index)
            if held >= nodes:
                return index + 1
        return first + -(-(nodes - held) // self.unit)


Seat = tuple[str, bool]  # host, whether it stands already


def seats(request: Request) -> list[Seat]:
    """Every node that is planned, pool by pool."""
    return [(pool.host(i), i < pool.count) for pool in request.pools for i in range(pool.planned)]


def units_of(request: Request, unit: int, kept: int, planned: int) -> Units:
    """The units of a request, whose pools are planned to have ``planned`` nodes. Raises FabricError for what they cannot hold."""
    units = Units(unit, kept, request.units)
    for index, nodes in enumerate(request.units):
        if nodes > unit:
            raise FabricError("units", f"unit {index + 1} is to hold {nodes} nodes, and a unit has places for {unit}")
    if sum(request.units) > planned:
        raise FabricError("units", f"the units are to hold {sum(request.units):,} nodes, and there will be {planned:,}")
    if kept >= unit or (request.units and request.units[0] + kept > unit):
        raise FabricError("manager", f"the manager takes {request.manager_ports} leaf ports, {kept} of each leaf of the first unit, which leaves place for {max(0, unit - kept)} of its nodes; use a node fewer there, or a smaller unit")
    return units


def groups(request: Request, units: Units, found: list[Seat], rails: int, count: int) -> tuple[SwitchGroup, ...]:
    """The first ``count`` units with their leaves, laid in full, and the nodes that stand, each on the port of its place."""
    if request.numbering == "round-robin":
        members = _dealt(found, units, count)
    else:
        row = iter(found)
        members = [list(islice(row, units.room(index))) for index in range(count)]
    return tuple(_group(f"{request.name}-su{index + 1}", rails, here) for index, here in enumerate(members))


def _group(name: str, rails: int, here: list[Seat]) -> SwitchGroup:
    standing = [(host, place) for place, (host, there) in enumerate(here, 1) if there]
    return SwitchGroup(name, tuple(f"{name}-leaf{r + 1}" for r in range(rails)), tuple(host for host, _ in standing), tuple(place for _, place in standing))


def _dealt(found: list[Seat], units: Units, count: int) -> list[list[Seat]]:
    members: list[list[Seat]] = [[] for _ in range(count)]
    turns = _turns(units, count)
    for seat in found:
        members[next(turns)].append(seat)
    return members


def _turns(units: Units, count: int) -> Iterator[int]:
    """Indices of units in turn, each as often as it has room."""
    left = [units.room(index) for index in range(count)]
    while any(left):
        for index in range(count):
            if left[index]:
                left[index] -= 1
                yield index
