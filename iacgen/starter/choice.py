"""Which switch carries the ports of a machine."""

from __future__ import annotations

from dataclasses import dataclass

from .. import catalog


@dataclass(frozen=True)
class Choice:
    """``gbps`` is the speed of a link; with several ``planes`` a port has one link to each."""

    switch: catalog.Switch
    gbps: int
    planes: int

    @property
    def ports(self) -> int:
        """Ports of one switch at the speed of the links."""
        return self.switch.ports(self.gbps)


def choice(nic: catalog.HostNic, technology: str) -> Choice | None:
    """A switch that gives these ports their full speed over a cable of the catalog, of those one that is made for no faster ports, of
    those one of the adapter's vendor; None where there is none that speaks ``technology``."""
    card = catalog.nic(nic.nic)
    if technology not in card.technologies:
        return None
    planes = -(-nic.gbps // card.link_gbps(technology))
    fitting = []
    for switch in map(catalog.switch, catalog.ids("switches")):
        gbps = nic.gbps // planes
        if technology in switch.technologies and switch.uplink_gbps is None and _cabled(nic, switch, gbps, planes, technology):
            fitting.append((max(switch.ports_by_gbps), switch.vendor != card.vendor, switch.id))
    return Choice(catalog.switch(min(fitting)[-1]), nic.gbps // planes, planes) if fitting else None


def _cabled(nic: catalog.HostNic, switch: catalog.Switch, gbps: int, planes: int, technology: str) -> bool:
    """Whether a cable goes from the cages of these ports into those of the switch."""
    if not switch.ports(gbps):
        return False
    form, shared = catalog.nic(nic.nic).form, nic.cage_ports * planes
    known = (cable for cable in catalog.cables(gbps) if technology in cable.technologies)
    return any(cable.at_switch(switch.form_of(gbps), switch.shares(gbps)) and cable.host_end(form, shared) for cable in known)
