"""Racks and power: hosts of a pool fill racks one after another, within the power and the height of a rack."""

from __future__ import annotations

from dataclasses import dataclass

from .fabric.model import Fabric


@dataclass(frozen=True)
class Racked:
    """Things of one kind to put into racks: names, height in units, power in watts (None: not published)."""

    kind: str
    names: tuple[str, ...]
    units: int
    power_w: int | None


@dataclass(frozen=True)
class Rack:
    """One rack: what stands in it from the bottom up, with the lowest unit of each, and the known power."""

    name: str
    contents: tuple[tuple[str, int], ...]
    units: int
    power_w: int


@dataclass(frozen=True)
class Plant:
    """The cooling plant: how heat leaves the racks, the heat in watts that it takes away with its redundant units at rest."""

    kind: str
    capacity_w: int
    redundancy: str
    supply_c: int


@dataclass(frozen=True)
class Facility:
    """The racks of a site. ``unknown`` names kinds whose power is not published: they count as zero and must be said."""

    site: str
    racks: tuple[Rack, ...]
    rack_power_w: int
    rack_units: int
    power_w: int
    plant: Plant | None
    unknown: tuple[str, ...]

    @property
    def cooling_w(self) -> int | None:
        """The heat that the plant takes away; None where no plant is stated."""
        return self.plant.capacity_w if self.plant else None


def fill(site: str, things: list[Racked], rack_power_w: int, rack_units: int, plant: Plant | None) -> Facility:
    """Fill racks, named after what stands in them, so that growth renames none. Raises ValueError naming the kind that no rack can hold."""
    racks: list[Rack] = []
    for thing in things:
        fit = rack_units // thing.units
        if thing.power_w:
            fit = min(fit, rack_power_w // thing.power_w)
        if fit < 1:
            raise ValueError(thing.kind)
        for start in range(0, len(thing.names), fit):
            names = thing.names[start : start + fit]
            contents = tuple((name, 1 + i * thing.units) for i, name in enumerate(names))
            racks.append(Rack(f"{thing.kind}-r{start // fit + 1}", contents, thing.units * len(names), (thing.power_w or 0) * len(names)))
    unknown = tuple(t.kind for t in things if t.power_w is None)
    return Facility(site, tuple(racks), rack_power_w, rack_units, sum(r.power_w for r in racks), plant, unknown)


def switches_of(fabric: Fabric) -> Racked | None:
    """A fabric's switches as things to rack; None in a cloud."""
    if fabric.switch is None:
        return None
    kw = fabric.switch.power_kw_max or fabric.switch.power_kw_typical
    return Racked(f"{fabric.name}-switches", fabric.switch_names, fabric.switch.rack_units, round(kw * 1000) if kw else None)
