"""The links of a fabric with everything that a list of cables says of them, expanded once for all lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ...design.fabric.model import Fabric, Joins, Links, pool_of
from ...design.fabric.wiring import port_names
from ...design.facility import Facility
from ...design.facility.cables import Run, runs
from .ports import Port, Speed, speeds, switch_port, system_of


_Ports = Callable[[int, int], Port]  # of the number of a device and the number of its port


class Place(NamedTuple):
    """Where a thing stands: the rack and its lowest unit; both None for what stands in no rack."""

    rack: str | None = None
    unit: int | None = None


class Wire(NamedTuple):
    """One link; ``a`` is the end nearer to the hosts. ``medium``, ``model`` and ``length_m`` are None where no cable is known, and so is
    ``part_number`` where nobody read that of the length."""

    joins: Joins
    gbps: int
    a: str
    a_port: Port
    a_place: Place
    b: str
    b_port: Port
    b_place: Place
    medium: str | None
    model: str | None
    part_number: str | None
    length_m: float | None

    @property
    def from_host(self) -> bool:
        """Whether the lower end is a host."""
        return self.joins in ("host-leaf", "manager-leaf")

    @property
    def label(self) -> str:
        """What stands on both ends of the cable."""
        return label((*self.a_place, self.a, self.a_port.socket or self.a_port.name), (*self.b_place, self.b, self.b_port.name))


@dataclass(frozen=True)
class Wired:
    """A fabric with its links in the order of ``Fabric.wiring()``; ``runs`` are their cables, ``speeds`` those of each switch. ``spots``
    are row and place, from 1, of a rack by its name; None is where a thing stands in none."""

    fabric: Fabric
    wires: Sequence[Wire]
    runs: Sequence[Run]
    speeds: Sequence[Speed]
    places: dict[str, Place]
    spots: dict[str | None, tuple[int | None, int | None]]

    def below(self, wire: Wire) -> Literal["host", "switch"]:
        """What the lower end is: a host, or a switch, which an out-of-band fabric reaches as it does hosts."""
        reached = bool(self.fabric.attached) and pool_of(wire.a) in {run.name for run in self.fabric.attached}
        return "host" if wire.from_host and not reached else "switch"

    def place(self, name: str) -> Place:
        """Where a switch or host stands."""
        return self.places.get(name, Place())


def label(a: tuple[str | None, int | None, str, str], b: tuple[str | None, int | None, str, str]) -> str:
    """``R1-U24-P8A to R1-U1-P3A``: rack, unit and port of both ends, as Oracle's multi-rack cabling guides print them. An end that
    stands in no rack is told by its name."""
    return f"{_end(*a)} to {_end(*b)}"


def _end(rack: str | None, unit: int | None, name: str, port: str) -> str:
    return f"{name}-{port}" if rack is None else f"{rack}-U{unit}-{port}"


def wired(fabric: Fabric, facility: Facility) -> Wired:
    """Every link with names, places and cables."""
    places = {name: Place(rack.name, thing.unit) for name, (rack, thing) in facility.place_of.items()}
    spots: dict[str | None, tuple[int | None, int | None]] = {None: (None, None)}
    spots |= {rack.name: (rack.row, rack.place) for rack in facility.racks}
    laid, counted = runs(facility, fabric), speeds(fabric)
    return Wired(fabric, [wire for run in laid for wire in _wires(fabric, run, counted, places)], laid, counted, places, spots)


def _wires(fabric: Fabric, run: Run, counted: Sequence[Speed], places: dict[str, Place]) -> Iterator[Wire]:
    links, none = run.links, Place()
    a_names, a_ports = _lower_ends(fabric, links, counted)
    switches, b_ports = fabric.switch_names, _switch_ports(fabric, links.gbps, counted)
    none_at_all: tuple[None, None, dict[float, str]] = (None, None, {})  # the last, for no cable at all
    kinds = [*((cable.medium, cable.model, cable.part_numbers) for cable in run.cables), none_at_all]
    lengths = [int(m) if m == m and m == int(m) else m for m in run.length_m.tolist()]  # whole metres without a point
    cables = zip(run.cable.tolist(), lengths, strict=True)
    ends = zip(links.a.tolist(), links.a_port.tolist(), links.b.tolist(), links.b_port.tolist(), strict=True)
    for (a, a_port, b, b_port), (cable, length) in zip(ends, cables, strict=True):
        near, far = a_names[a], switches[b]
        medium, model, numbers = kinds[cable]
        yield Wire(
            links.joins, links.gbps, near, a_ports(a, a_port), places.get(near, none), far, b_ports(b, b_port), places.get(far, none),
            medium, model, numbers.get(length), length if medium else None,
        )  # fmt: skip


def _lower_ends(fabric: Fabric, links: Links, counted: Sequence[Speed]) -> tuple[Sequence[str], _Ports]:
    """(names, port of (number of the device, number of the port)) of the ends ``a``."""
    if links.joins == "host-leaf":
        names = {pool: host_ports(fabric, pool) for pool in fabric.nics}
        hosts = fabric.hosts
        pools = [names[pool_of(host)] for host in hosts]
        return hosts, lambda a, port: pools[a][port]
    if links.joins == "manager-leaf":
        assert fabric.manager
        own = manager_ports(fabric, int(links.a_port.max()) + 1)
        return fabric.manager.hosts, lambda a, port: own[port]
    return fabric.switch_names, _switch_ports(fabric, links.gbps, counted)


def _switch_ports(fabric: Fabric, gbps: int, counted: Sequence[Speed]) -> _Ports:
    models = [(tier.switch, system_of(fabric, tier.switch)) for tier in fabric.tiers for _ in tier.names]
    return lambda switch, port: switch_port(*models[switch], counted[switch].gbps, gbps, port)


def spelt(fabric: Fabric, pool: str) -> tuple[str, ...]:
    """Names of a host's ports as the far end sees them: on Ethernet the interface, which LLDP tells, elsewhere the RDMA device."""
    interfaces = fabric.nics[pool].interfaces
    return interfaces if fabric.technology in ("roce", "ethernet") and fabric.planes == 1 and interfaces else port_names(fabric, pool)


def host_ports(fabric: Fabric, pool: str) -> list[Port]:
    """Ports of a pool's hosts, plane by plane. The cage is told where ports share one: the others are found by their names."""
    nic = fabric.nics[pool]
    at = [(nic.cages[i] if nic.cages else None, None, nic.sockets[i] if nic.sockets else None) for i in range(nic.count)]
    return [Port(name, *at[i % nic.count]) for i, name in enumerate(spelt(fabric, pool))]


def manager_ports(fabric: Fabric, count: int) -> list[Port]:
    """Ports of a manager's host that the fabric does not connect otherwise."""
    names = fabric.manager.nic.rdma_names if fabric.manager and fabric.manager.nic else ()
    return [Port(names[i] if i < len(names) else f"{fabric.name}{i}") for i in range(count)]
