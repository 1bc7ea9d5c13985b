"""The management ports of switches: an out-of-band fabric carries them beside the controllers of machines.

A run of switches whose names differ in their number alone is to the fabric what a pool is: ``compute-su1-leaf`` has eight.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from ... import catalog
from .model import Fabric, Tier, pool_of

LEAST = 32  # addresses that a tier of a plane has at least, so that a small fabric may grow without a new plan


@dataclass(frozen=True)
class Attached:
    """Switches ``<name>1`` and on of one tier of ``fabric``. ``first`` is the place of the first among the addresses of the fabric's
    switches. One of which none stands yet holds the ports of those that are planned."""

    name: str
    fabric: str
    count: int
    planned: int
    first: int
    port: str

    def host(self, index: int) -> str:
        """Name of switch ``index``, from 0."""
        return f"{self.name}{index + 1}"

    @property
    def nic(self) -> catalog.HostNic:
        """Its management port, a copper one of 1 Gb/s on every switch of the catalog that has any."""
        return catalog.HostNic(nic="lan-1g", count=1, gbps=1, interfaces=(self.port,))


def attached(fabrics: Iterable[Fabric]) -> Iterator[Attached]:
    """Every switch with a management port, fabric by fabric, tier by tier. One without an operating system of its own has none."""
    base = 0
    for fabric in fabrics:
        for number, tier in enumerate(fabric.tiers):
            each = len(tier.names) // fabric.planes
            planned = max(each, _planned(fabric, number))
            block = max(LEAST, 1 << (planned - 1).bit_length())
            if tier.switch.software:
                for plane in range(fabric.planes):
                    yield from _plane(fabric, tier, plane, planned, base + plane * block)
            base += fabric.planes * block


def _plane(fabric: Fabric, tier: Tier, plane: int, planned: int, base: int) -> Iterator[Attached]:
    each, at = len(tier.names) // fabric.planes, 0
    port = "mgmt0" if tier.switch.software == ("mlnx-os",) else "eth0"
    for name, members in groupby(tier.names[plane * each : (plane + 1) * each], pool_of):
        count = sum(1 for _ in members)
        yield Attached(name, fabric.name, count, count, base + at, port)
        at += count
    if planned > each:
        yield Attached(f"{fabric.name}-{tier.kind}s-{plane}-planned", fabric.name, 0, planned - each, base + each, port)


def _planned(fabric: Fabric, number: int) -> int:
    """Switches of a tier in one plane at the planned size; those above the leaves of two tiers stand from the first day."""
    growth, names = fabric.growth, fabric.tiers[number].names
    if not growth or growth.unit not in ("units", "leaves") or not growth.built:
        return len(names) // fabric.planes
    if number and not fabric.pods:
        return len(names) // fabric.planes
    return -(-len(names) // fabric.planes * growth.planned // growth.built)
