"""Lists of cables and ports, each in the columns of its reader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...design.fabric.model import Fabric
from ...render import csv_text
from .ports import Port, every_port
from .wired import Wire, Wired

Row = Sequence[object]

# NVIDIA UFM Cable Validation Tool, P2P file: the headers decide, down to the unit's two spellings.
P2P = ("A-Rack", "A-U", "A-Node Name", "A-Type", "A-Port", "Z-Rack", "Z-RU", "Z-Node Name", "Z-Type", "Z-Port")
OURS = (
    "label", "joins", "a_row", "a_place", "a_rack", "a_unit", "a_device", "a_type", "a_cage", "a_socket", "a_port",
    "z_row", "z_place", "z_rack", "z_unit", "z_device", "z_type", "z_cage", "z_port", "gbps", "medium", "cable", "part_number", "length_m",
)  # fmt: skip
# NetBox, import of cables (dcim/forms/bulk_import.py, CableImportForm).
NETBOX = ("side_a_device", "side_a_type", "side_a_name", "side_b_device", "side_b_type", "side_b_name", "type", "status", "label", "length", "length_unit")
PORTS = ("switch", "model", "rack", "unit", "port", "cage", "part", "gbps", "state", "joins", "far_device", "far_port", "label")
# NetBox's names of cable types (dcim/choices.py, CableTypeChoices).
_NETBOX_TYPES = {"twisted-pair": "cat6", "dac": "dac-passive", "acc": "dac-active", "aoc": "aoc", "multimode": "mmf-om4", "single-mode": "smf-os2"}


def cables(wired: Wired, numbers: dict[str, int]) -> str:
    """``cables.csv``: one row a link for UFM's cable validation. InfiniBand hosts are told by the number of the adapter in
    ``numbers``, as that program's map of adapters has it, the others by their port's name."""
    def rows() -> Iterator[Row]:
        yield P2P
        for w in wired.wires:
            port = numbers.get(w.a_port.name, w.a_port.name) if w.from_host else w.a_port.name
            yield (w.a_place.rack, w.a_place.unit, w.a, wired.below(w).capitalize(), port, w.b_place.rack, w.b_place.unit, w.b, "Switch", w.b_port.name)

    return csv_text(rows())


def adapter_numbers(fabric: Fabric, wires: Sequence[Wire]) -> dict[str, int]:
    """Adapter → its number in the P2P file: mlx5_0 is 1 and so on, as the tool counts by itself; others count on behind them."""
    if fabric.technology != "infiniband":
        return {}
    names = sorted({w.a_port.name for w in wires if w.from_host}, key=lambda name: (len(name), name))
    own = {name: int(name.removeprefix("mlx5_")) + 1 for name in names if name.removeprefix("mlx5_").isdecimal() and name.startswith("mlx5_")}
    after = max(own.values(), default=0)
    return own | {name: after + i + 1 for i, name in enumerate(name for name in names if name not in own)}


def adapter_map(numbers: dict[str, int]) -> str:
    """``hca-map.csv``: UFM cable validation's map of the numbers of adapters to their names."""
    return csv_text([("port", "hca-name"), *((number, name) for name, number in sorted(numbers.items(), key=lambda item: item[1]))])


def point_to_point(wired: Wired) -> str:
    """``p2p.csv``: one row a link with all that is known of it, for people."""

    def rows() -> Iterator[Row]:
        yield OURS
        spots = wired.spots
        for w in wired.wires:
            yield (
                w.label, w.joins, *spots[w.a_place.rack], *w.a_place, w.a, wired.below(w), w.a_port.cage, w.a_port.socket, w.a_port.name,
                *spots[w.b_place.rack], *w.b_place, w.b, "switch", w.b_port.cage, w.b_port.name, w.gbps, w.medium, w.model, w.part_number, w.length_m,
            )  # fmt: skip

    return csv_text(rows())


def netbox(wired: Wired) -> str:
    """``netbox-cables.csv``: one row a link for NetBox's import of cables."""

    def rows() -> Iterator[Row]:
        yield NETBOX
        for w in wired.wires:
            kind = _NETBOX_TYPES[w.medium] if w.medium else None
            unit = None if w.length_m is None else "m"
            yield (w.a, "dcim.interface", w.a_port.name, w.b, "dcim.interface", w.b_port.name, kind, "planned", w.label, w.length_m, unit)

    return csv_text(rows())


def ports(wired: Wired) -> str:
    """``ports.csv``: every port of every switch: used, free, or reserved for the fabric's manager."""
    fabric = wired.fabric
    taken: dict[str, dict[Port, tuple[Wire, bool]]] = {name: {} for name in fabric.switch_names}
    for w in wired.wires:
        taken[w.b][w.b_port] = (w, False)
        if not w.from_host:
            taken[w.a][w.a_port] = (w, True)

    def rows() -> Iterator[Row]:
        yield PORTS
        for index, (name, tier) in enumerate((name, tier) for tier in fabric.tiers for name in tier.names):
            kept, place = reserved(fabric, name), wired.place(name)
            head, here, speed = (name, tier.switch.id, *place), taken[name], wired.speeds[index]
            for number, port in enumerate(every_port(fabric, tier.switch, speed), 1):
                if port in here:
                    w, upward = here[port]
                    far, far_port = (w.b, w.b_port) if upward else (w.a, w.a_port)
                    yield (*head, *port[:3], w.gbps, "used", w.joins, far, far_port.name, w.label)
                else:
                    gbps = tier.switch.uplink_gbps if number > speed.ports else speed.gbps
                    yield (*head, *port[:3], gbps, "reserved" if number in kept else "free", None, None, None, None)

    return csv_text(rows())


def reserved(fabric: Fabric, switch: str) -> range:
    """Numbers of the ports that a leaf of the first group keeps for the manager, cabled or not."""
    if not fabric.reserved or not fabric.manager or switch not in fabric.groups[0].leaves:
        return range(0)
    each = -(-fabric.manager.in_plane(fabric.planes) // (len(fabric.groups[0].leaves) // fabric.planes))
    return range(fabric.reserved, fabric.reserved + each)
