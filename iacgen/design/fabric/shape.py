"""What a topology is asked for, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ...catalog import HostNic, Switch
from .model import Growth, Pod, SwitchGroup, Trunks


class PoolLike(Protocol):
    """What a topology needs of a pool; ``planned`` is how many hosts it may grow to."""

    @property
    def name(self) -> str: ...
    @property
    def count(self) -> int: ...
    @property
    def planned(self) -> int: ...
    def host(self, index: int) -> str: ...


class FabricError(Exception):
    """A fabric that cannot be built; ``field`` is the blueprint key to blame, None for the section itself.

    ``limit``: whether it is a size that the switches cannot carry, so that another size or switch could. ``possible`` are changes
    of the blueprint that would do, in words.
    """

    def __init__(self, field: str | None, message: str, limit: bool = False, possible: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.field, self.limit, self.possible = field, limit, tuple(possible)


@dataclass(frozen=True)
class Group:
    """The sizes of a dragonfly's group; None is what the switch's ports suggest."""

    hosts: int | None = None
    leaves: int | None = None
    spines: int | None = None
    links: int | None = None
    between: int | None = None


@dataclass(frozen=True)
class Request:
    """One plane of a fabric as the blueprint asks for it; ``nics`` and ``link_gbps`` are per pool, ``upper`` is the model of spines
    and cores. ``units`` are nodes of the first units where these are not full. ``spines`` and ``pod`` fix what would otherwise be the fewest spines of a pod and the fewest, equal pods."""

    name: str
    pools: Sequence[PoolLike]
    nics: Mapping[str, HostNic]
    link_gbps: Mapping[str, int]
    switch: Switch
    unit: int | None
    numbering: str
    oversubscription: float
    manager_ports: int
    upper: Switch | None = None
    spine_oversubscription: float = 1.0
    tiers: int | None = None
    spines: int | None = None
    pod: int | None = None
    rail_groups: bool = False
    fewest_cores: bool = False
    rotating: bool = False
    group: Group = field(default_factory=Group)
    units: tuple[int, ...] = ()

    @property
    def above(self) -> Switch:
        """The model of the spines and cores."""
        return self.upper or self.switch

    def host_gbps(self) -> int:
        """The speed of the host links, where they must all be equal. Raises FabricError."""
        speeds = sorted(set(self.link_gbps.values()))
        if len(speeds) != 1:
            raise FabricError("connects", f"all host links of this topology must have one speed, found {', '.join(map(str, speeds))} Gb/s")
        return speeds[0]


@dataclass(frozen=True)
class Shape:
    """The switches of one plane: leaves stand in the groups; no spines and no trunks where one leaf is enough.

    ``reserved`` is the first down-port kept for the manager on the first group's leaves, 0 without.
    """

    groups: tuple[SwitchGroup, ...]
    spines: tuple[str, ...] = ()
    cores: tuple[str, ...] = ()
    pods: tuple[Pod, ...] = ()
    trunks: Trunks | None = None
    reserved: int = 0
    growth: Growth | None = None
