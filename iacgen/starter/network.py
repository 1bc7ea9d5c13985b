"""The compute fabric of so many nodes: one switch where it has the ports, else rails."""

from __future__ import annotations

from dataclasses import dataclass

from .. import catalog
from .choice import choice

UFM_PORTS = 4  # DGX SuperPOD reference architecture H100, network fabrics, table 4
MANAGERS = ("generic-1u", "generic-1u-ndr", "generic-1u-xdr")  # by the speed of their ports: a cage has room for no other beside it


@dataclass(frozen=True)
class Network:
    """``unit`` is None for a single switch. ``ufm`` is the machine that runs the subnet of an InfiniBand fabric of more than one switch,
    None elsewhere. ``room`` is how many nodes the same switches carry, so that growth up to there moves no cable."""

    switch: str
    ports: int
    planes: int
    unit: int | None
    ufm: str | None
    room: int


def network(system: catalog.System, nodes: int, technology: str) -> Network | None:
    """The fabric on the switch that suits the system's ports best; None where none speaks ``technology`` over a cable that fits both."""
    nic = system.nics["compute"]
    chosen = choice(nic, technology)
    if chosen is None:
        return None
    id, radix, planes = chosen.switch.id, chosen.ports, chosen.planes
    if nodes * nic.count <= radix:
        return Network(id, radix, planes, None, None, radix // nic.count)
    ufm = next((id for id in MANAGERS if catalog.system(id).nics["compute"].gbps == chosen.gbps), None) if technology == "infiniband" else None
    unit, room = _unit(nodes, nic.count, radix, UFM_PORTS if ufm else 0)
    return Network(id, radix, planes, unit, ufm, room)


def _unit(nodes: int, rails: int, radix: int, manager_ports: int) -> tuple[int, int]:
    """(nodes of a scalable unit, nodes that fit): as few units as can be, each with as much room as leaves the last one half full, with
    place for the manager on the leaves of the first. Sizes whose uplinks leave most ports of the spines empty are passed over."""
    for units in range(-(-nodes // (radix // 2)), nodes + 1):
        fitting = []
        for unit in range(-(-nodes // units), radix // 2 + 1):
            kept = max(0, -(-manager_ports // rails) - (radix - 2 * unit))
            last = nodes - (units - 1) * unit + (kept if units > 1 else 0)
            if kept < unit and 0 < last <= unit - (0 if units > 1 else kept) and 2 * last >= unit:
                fitting.append((_filled(units * rails, unit, radix), unit, units * unit - kept))
        if fitting:
            _, unit, room = max(fitting)
            return unit, room
    return radix // 2, nodes


def _filled(leaves: int, uplinks: int, radix: int) -> bool:
    """Whether spines with equally many links to every leaf use half their ports or more; so far as two tiers reach."""
    spines = next((s for s in range(1, uplinks + 1) if uplinks % s == 0 and leaves * (uplinks // s) <= radix), None)
    return spines is None or spines * radix <= 2 * leaves * uplinks
