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
    """The switch with the fastest links to these ports, of those one that is made for no faster ones, of those one of the adapter's
    vendor; None where nothing speaks ``technology``."""
    card = catalog.nic(nic.nic)
    if technology not in card.technologies:
        return None
    planes = -(-nic.gbps // card.link_gbps(technology))
    fitting = []
    for switch in map(catalog.switch, catalog.ids("switches")):
        speeds = [g for g in switch.ports_by_gbps if g * planes <= nic.gbps and switch.uplink_gbps is None]
        if technology in switch.technologies and speeds:
            fitting.append((-max(speeds), max(switch.ports_by_gbps), switch.vendor != card.vendor, switch.id))
    if not fitting:
        return None
    speed, *_, id = min(fitting)
    return Choice(catalog.switch(id), -speed, planes)
