"""The compute fabric of so many nodes: one switch where it has the ports, else rails."""

from __future__ import annotations

from dataclasses import dataclass

from .. import catalog

UFM_PORTS = 4  # DGX SuperPOD reference architecture H100, network fabrics, table 4


@dataclass(frozen=True)
class Network:
    """``unit`` is None for a single switch. ``ufm`` runs the subnet of an InfiniBand fabric that is more than one switch."""

    switch: str
    ports: int
    unit: int | None
    ufm: bool


def network(system: catalog.System, nodes: int, technology: str) -> Network | None:
    """The first switch of the catalog that speaks ``technology`` at a speed of the system's ports; None where there is none."""
    nic = system.nics["compute"]
    if technology not in catalog.nic(nic.nic).technologies:
        return None
    for id in catalog.ids("switches"):
        switch = catalog.switch(id)
        speeds = [g for g in switch.ports_by_gbps if g <= nic.gbps and switch.uplink_gbps is None]
        if technology in switch.technologies and speeds:
            radix = switch.ports(max(speeds))
            if nodes * nic.count <= radix:
                return Network(id, radix, None, False)
            ufm = technology == "infiniband"
            return Network(id, radix, _unit(nodes, nic.count, radix, UFM_PORTS if ufm else 0), ufm)
    return None


def _unit(nodes: int, rails: int, radix: int, manager_ports: int) -> int:
    """Nodes of a scalable unit: as few units as can be, of one size, with room for the manager in the last one."""
    for units in range(-(-nodes // (radix // 2)), nodes + 1):
        unit = -(-nodes // units)
        last = nodes - (-(-nodes // unit) - 1) * unit
        if (radix - unit - last) * rails >= manager_ports:
            return unit
    return radix // 2
