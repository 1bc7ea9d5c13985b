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
    None elsewhere."""

    switch: str
    ports: int
    planes: int
    unit: int | None
    ufm: str | None


def network(system: catalog.System, nodes: int, technology: str) -> Network | None:
    """The fabric on the switch that suits the system's ports best; None where none speaks ``technology`` over a cable that fits both."""
    nic = system.nics["compute"]
    chosen = choice(nic, technology)
    if chosen is None:
        return None
    id, radix, planes = chosen.switch.id, chosen.ports, chosen.planes
    if nodes * nic.count <= radix:
        return Network(id, radix, planes, None, None)
    ufm = next((id for id in MANAGERS if catalog.system(id).nics["compute"].gbps == chosen.gbps), None) if technology == "infiniband" else None
    return Network(id, radix, planes, _unit(nodes, nic.count, radix, UFM_PORTS if ufm else 0), ufm)


def _unit(nodes: int, rails: int, radix: int, manager_ports: int) -> int:
    """Nodes of a scalable unit: as few units as can be, of one size, with room for the manager on the leaves of the first one."""
    for units in range(-(-nodes // (radix // 2)), nodes + 1):
        unit = -(-nodes // units)
        kept = max(0, -(-manager_ports // rails) - (radix - 2 * unit))
        if -(-(nodes + kept) // unit) == -(-nodes // unit) and kept < unit:
            return unit
    return radix // 2
