"""What a topology is asked for, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ...catalog import HostNic, Switch
from .model import SwitchGroup, Uplinks


class PoolLike(Protocol):
    """What a topology needs of a pool."""

    @property
    def name(self) -> str: ...
    @property
    def count(self) -> int: ...
    @property
    def hosts(self) -> tuple[str, ...]: ...


class FabricError(Exception):
    """A fabric that cannot be built; ``field`` is the blueprint key to blame, None for the section itself."""

    def __init__(self, field: str | None, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class Request:
    """One fabric as the blueprint asks for it; ``nics`` and ``link_gbps`` are per pool."""

    name: str
    pools: Sequence[PoolLike]
    nics: Mapping[str, HostNic]
    link_gbps: Mapping[str, int]
    switch: Switch
    unit: int | None
    numbering: str
    oversubscription: float
    manager_ports: int

    def host_gbps(self) -> int:
        """The speed of the host links, where they must all be equal. Raises FabricError."""
        speeds = sorted(set(self.link_gbps.values()))
        if len(speeds) != 1:
            raise FabricError("connects", f"all host links of this topology must have one speed, found {', '.join(map(str, speeds))} Gb/s")
        return speeds[0]


@dataclass(frozen=True)
class Shape:
    """The switches that a topology answers with; no spines and no uplinks where one leaf is enough."""

    groups: tuple[SwitchGroup, ...]
    spines: tuple[str, ...]
    uplinks: Uplinks | None
