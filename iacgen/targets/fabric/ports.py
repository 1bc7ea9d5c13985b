"""Link ports as people and programs name them: the cage, the part of it, and the spelling of the switch's operating system."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from ...design.fabric.model import Fabric, Switch
from ...design.facility.cages import counted_gbps


class Port(NamedTuple):
    """One end of a link: ``cage`` counts from 1 and ``part``, the link of that cage, from 0. ``name`` is as its own system spells it.

    On a host ``part`` is None, and ``cage`` too where no two ports share one; ``socket`` is what its maker calls the place of the plug."""

    name: str
    cage: int | None = None
    part: int | None = None
    socket: str | None = None


class Speed(NamedTuple):
    """The speed that the ports of one switch are counted at, and its number of ports."""

    gbps: int
    ports: int


def speeds(fabric: Fabric) -> list[Speed]:
    """For each switch of ``Fabric.switch_names`` the speed at which its ports are counted: the fastest of its links, those of sockets
    set apart for uplinks left out. A slower link takes a whole port. A switch without any link has the fastest of its model."""
    models = [tier.switch for tier in fabric.tiers for _ in tier.names]
    return [Speed(gbps, model.ports(gbps)) for model, gbps in zip(models, counted_gbps(fabric), strict=True)]


@cache
def switch_port(switch: Switch, system: str, counted_gbps: int, gbps: int, number: int) -> Port:
    """Link port ``number`` of a switch whose ports are counted at one speed and whose link runs at another.

    InfiniBand: a number, ``8/2`` where the port is split (UFM Cable Validation Tool, P2P file), ``sw4p2`` on NVOS. Ethernet:
    ``swp4s1`` on Cumulus, ``Ethernet28`` on SONiC, counted by lanes.
    """
    own = gbps if switch.uplink_gbps is not None else counted_gbps
    cage, part = switch.cage(own, number)
    if system == "nvos":
        return Port(f"sw{cage}p{part + 1}", cage, part)
    if system == "infiniband":
        return Port(_infiniband(switch, own, number), cage, part)
    if system == "sonic":
        assert switch.sonic
        lanes = switch.sonic.lanes
        return Port(f"Ethernet{(cage - 1) * lanes + part * lanes // switch.shares(own)}", cage, part)
    return Port(f"swp{cage}" if switch.shares(own) == 1 else f"swp{cage}s{part}", cage, part)


def _infiniband(switch: Switch, gbps: int, number: int) -> str:
    whole = switch.ports(max(switch.ports_by_gbps))
    split = switch.ports(gbps) // whole
    return str(number) if split <= 1 else f"{(number - 1) // split + 1}/{(number - 1) % split + 1}"


def system_of(fabric: Fabric, switch: Switch) -> str:
    """Whose spelling the ports of a switch have."""
    if fabric.technology == "infiniband":
        return "nvos" if "nvos" in switch.software else "infiniband"
    return "sonic" if fabric.os == "sonic" and switch.sonic else "cumulus"


def every_port(fabric: Fabric, switch: Switch, speed: Speed) -> list[Port]:
    """All ports of a switch in the order of their numbers, sockets for uplinks behind the others."""
    system = system_of(fabric, switch)
    found = [switch_port(switch, system, speed.gbps, speed.gbps, n + 1) for n in range(speed.ports)]
    if switch.uplink_gbps is not None:
        found += [switch_port(switch, system, speed.gbps, switch.uplink_gbps, speed.ports + n + 1) for n in range(switch.ports(switch.uplink_gbps))]
    return found
