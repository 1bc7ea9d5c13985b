"""What each switch has on its ports: hosts below, switches beside and above."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import NamedTuple

from ...design.fabric.model import Switch
from .addresses import autonomous_systems, loopbacks, routes
from .ports import Port, Speed
from .wired import Wired

# One segment joins all hosts of a fabric, wherever they are: their addresses are of one network, which no leaf may cut.
SEGMENT = 10  # VLAN and VXLAN number
HOST_MTU = 9000  # of the role roce_host; switches have room for it with a VXLAN header around it


class Far(NamedTuple):
    """What a port leads to."""

    port: Port
    gbps: int
    device: str
    device_port: str
    is_host: bool
    length_m: float | None


@dataclass(frozen=True)
class Router:
    """One switch: where it stands in the routing, and its ports in their order."""

    name: str
    kind: str
    model: Switch
    speed: Speed
    loopback: IPv4Address
    asn: int
    routes: bool
    ports: Sequence[Far]

    def slower(self, far: Far) -> bool:
        """Whether a link runs below the speed that its port comes up with, so that the switch must be told."""
        return far.gbps < self.speed.gbps

    @property
    def hosts(self) -> list[Far]:
        """Ports that lead to hosts."""
        return [far for far in self.ports if far.is_host]

    @property
    def links(self) -> list[Far]:
        """Ports that lead to switches."""
        return [far for far in self.ports if not far.is_host]


def routers(wired: Wired) -> Iterator[Router]:
    """Every switch with its ports, in the order of ``Fabric.switch_names``."""
    fabric = wired.fabric
    ports: dict[str, list[Far]] = {name: [] for name in fabric.switch_names}
    for w in wired.wires:
        ports[w.b].append(Far(w.b_port, w.gbps, w.a, w.a_port.name, w.from_host, w.length_m))
        if not w.from_host:
            ports[w.a].append(Far(w.a_port, w.gbps, w.b, w.b_port.name, False, w.length_m))
    addresses, numbers, routing = loopbacks(fabric), autonomous_systems(fabric), routes(fabric)
    switches = ((name, tier) for tier in fabric.tiers for name in tier.names)
    for speed, (name, tier) in zip(wired.speeds, switches, strict=True):
        here = sorted(ports[name], key=lambda far: (far.port.cage, far.port.part))
        yield Router(name, tier.kind, tier.switch, speed, addresses[name], numbers[name], routing, here)
