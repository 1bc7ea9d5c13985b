"""Machines and switches into racks, within power, cooling, height and weight.

Machines of a pool fill racks named after it, from the bottom. The leaves of a group stand on top of the rack of its first machine,
where a full rack has power and height left for all of them; else together in a rack of leaves beside the racks of their machines.
Spines and cores fill racks of their own. The number of a rack follows from the number of what stands in it, never from a total.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from .lanes import Lane, LeafRacks, spot, starts
from .model import Floor, Limits, Rack, Racked, Standing, TooLarge


@dataclass(frozen=True)
class Leaves:
    """The leaf switches of a fabric, group by group; ``planned`` groups one day. Figures are those of one leaf.

    ``along`` is the pool whose racks they stand at, ``hosts`` how many of its machines a full group has (None: there is one group,
    and it is not full).
    """

    fabric: str
    groups: tuple[tuple[str, ...], ...]
    along: str
    hosts: int | None
    planned: int
    units: int
    power_w: int | None
    weight_kg: float | None = None
    model: str = ""

    @property
    def size(self) -> int:
        """Leaves of a group."""
        return len(self.groups[0])

    @property
    def kind(self) -> str:
        """What its racks are called after."""
        return f"{self.fabric}-leaf"


@dataclass(frozen=True)
class Hall:
    """What is to be placed: pools whose racks form the rows, other pools, leaves, and the switches above them."""

    rows: Sequence[Racked]
    others: Sequence[Racked]
    leaves: Sequence[Leaves] = ()
    upper: Sequence[Racked] = ()


@dataclass(frozen=True)
class _Aisle:
    """A pool with its lane, the leaves that stand on its racks, each with the unit that its first one fills, and those beside them."""

    pool: Racked
    lane: Lane
    on_top: tuple[tuple[Leaves, int], ...]
    beside: tuple[Leaves, ...]


Placed = tuple[int, str, tuple[Standing, ...]]  # number in the sequence of a side of the floor, name, what stands there


def fill(hall: Hall, limits: Limits, floor: Floor) -> tuple[Rack, ...]:
    """Every rack, with its place. Raises TooLarge with the kind of which not even one fits a rack."""
    rows, others = ([_aisle(pool, hall.leaves, limits, floor) for pool in pools] for pools in (hall.rows, hall.others))
    main, aside = list(_racks(rows, limits)), list(_racks(others, limits))
    at = sum(aisle.lane.length for aisle in others)
    for left in (one for aisle in (*rows, *others) for one in _left_over(aisle)):
        aside += [(at + n, f"{left.kind}-r{n + 1}", _stack(left, names)) for n, names in enumerate(_cut(left.names, fit(left, limits)))]
        at += -(-len(left.names) // fit(left, limits))
    for kind in hall.upper:
        aside += [(at + n, f"{kind.kind}-r{n + 1}", _stack(kind, names)) for n, names in enumerate(_cut(kind.names, fit(kind, limits)))]
        at += -(-max(kind.planned, len(kind.names)) // fit(kind, limits))
    if not hall.rows:
        floor = replace(floor, side=floor.row_length)
    return tuple(Rack(name, *spot(floor, i, left), things) for left, racks in ((False, main), (True, aside)) for i, name, things in racks)


def fit(thing: Racked | Leaves, limits: Limits) -> int:
    """How many go into a rack. Raises TooLarge with the kind where none does; too heavy a thing stands alone all the same."""
    most = replace(limits, weight_kg=None).fit(thing.units, thing.power_w, None)
    together = thing.together if isinstance(thing, Racked) else 1
    if most < together:
        raise TooLarge(thing.kind, _figures(thing, together, limits))
    return together if together > 1 else max(1, min(most, limits.fit(thing.units, thing.power_w, thing.weight_kg)))


def _figures(thing: Racked | Leaves, together: int, limits: Limits) -> str:
    """What is needed in a rack beside what the rack has, of each figure that is too small."""
    units, watts = together * thing.units, together * (thing.power_w or 0)
    heat = {"cooling": limits.cooling_w} if limits.cooling_w != limits.power_w else {}
    each = [("height", f"{units} U", f"{limits.units} U", units > limits.units)]
    each += [(name, f"{watts / 1000:g} kW", f"{has / 1000:g} kW", watts > has) for name, has in ({"power": limits.power_w} | heat).items()]
    short = " and ".join(f"{need} of {name} where a rack has {has}" for name, need, has, less in each if less)
    return f"{f'{together} of them stand in one rack and need' if together > 1 else 'one needs'} {short}"


def _aisle(pool: Racked, leaves: Sequence[Leaves], limits: Limits, floor: Floor) -> _Aisle:
    """Each fabric has room of its own on top of a full rack, or none: so that no group takes that of another which comes later."""
    n, on_top, beside = fit(pool, limits), [], []
    room = limits.less(n * pool.units, n * (pool.power_w or 0), n * (pool.weight_kg or 0))
    for one in (one for one in leaves if one.along == pool.kind and one.groups):
        known = pool.power_w is not None and one.power_w is not None and pool.together == 1
        if known and (one.hosts is None or one.hosts >= n) and room.fit(one.units, one.power_w, one.weight_kg) >= one.size:
            on_top.append((one, room.units + n * pool.units - one.units + 1))
            room = room.less(one.size * one.units, one.size * (one.power_w or 0), one.size * (one.weight_kg or 0))
        else:
            beside.append(one)
    lane = Lane(n, max(pool.planned, len(pool.names)), tuple(_leaf_racks(one, limits, floor, n) for one in beside))
    return _Aisle(pool, lane, tuple(on_top), tuple(beside))


def _leaf_racks(leaves: Leaves, limits: Limits, floor: Floor, fit_hosts: int) -> LeafRacks:
    """As many groups share a rack as it holds leaves of, but not more than have their machines within the length of a row."""
    most = fit(leaves, limits)
    by_row = max(1, floor.row_length * fit_hosts // leaves.hosts) if leaves.hosts else 1
    groups = max(1, min(most // leaves.size, by_row))
    racks = -(-leaves.size * groups // most)
    return LeafRacks(groups, leaves.hosts and leaves.hosts * groups, racks, -(-max(leaves.planned, len(leaves.groups)) // groups) * racks)


def _racks(aisles: Sequence[_Aisle], limits: Limits) -> Iterator[Placed]:
    for start, aisle in zip(starts([a.lane.length for a in aisles]), aisles, strict=False):
        own, tops = _cut(aisle.pool.names, aisle.lane.fit), _tops(aisle)
        for number in range(max([len(own), *(n + 1 for n in tops)])):
            names = own[number] if number < len(own) else ()
            yield start + aisle.lane.host(number), f"{aisle.pool.kind}-r{number + 1}", (*_stack(aisle.pool, names), *tops.get(number, ()))
        for which, (leaves, racks) in enumerate(zip(aisle.beside, aisle.lane.leaves, strict=True)):
            for at in range(0, len(leaves.groups), racks.groups):
                names = tuple(leaf for group in leaves.groups[at : at + racks.groups] for leaf in group)
                for j, part in enumerate(_cut(names, fit(leaves, limits))):
                    number = at // racks.groups * racks.racks + j
                    yield start + aisle.lane.leaf(which, number), f"{leaves.kind}-r{number + 1}", _stack(leaves, part)


def _tops(aisle: _Aisle) -> dict[int, tuple[Standing, ...]]:
    """Number of a rack of the pool → the leaves on top of it, from the bottom up."""
    out: dict[int, tuple[Standing, ...]] = {}
    for leaves, unit in aisle.on_top:
        for group, names in enumerate(leaves.groups):
            rack = _rack_of(group, leaves, aisle)
            if rack is not None:
                things = [_standing(leaves, name, unit - i * leaves.units) for i, name in enumerate(names)]
                out[rack] = (*reversed(things), *out.get(rack, ()))
    return out


def _rack_of(group: int, leaves: Leaves, aisle: _Aisle) -> int | None:
    """The rack of the pool on which the leaves of a group stand: that of its first machine; None where its machines are not the pool's."""
    rack = group * (leaves.hosts or 0) // aisle.lane.fit
    return rack if rack < aisle.lane.racks else None


def _left_over(aisle: _Aisle) -> Iterator[Racked]:
    """Leaves that belong on top of racks which the pool does not have, as their machines are those of other pools."""
    for leaves, _ in aisle.on_top:
        names = tuple(leaf for i, group in enumerate(leaves.groups) if _rack_of(i, leaves, aisle) is None for leaf in group)
        if names:
            yield Racked(leaves.kind, names, leaves.units, leaves.power_w, leaves.weight_kg, leaves.model)


def _cut(names: Sequence[str], size: int) -> list[Sequence[str]]:
    return [names[at : at + size] for at in range(0, len(names), size)]


def _stack(thing: Racked | Leaves, names: Sequence[str]) -> tuple[Standing, ...]:
    return tuple(_standing(thing, name, 1 + i * thing.units) for i, name in enumerate(names))


def _standing(thing: Racked | Leaves, name: str, unit: int) -> Standing:
    return Standing(name, unit, thing.units, thing.power_w, thing.weight_kg, thing.model)
