"""Facts about the halls: floor, feeds, heat, energy, cables."""

from __future__ import annotations

from collections.abc import Iterator

from iacgen import units
from iacgen.design.facility import Facility
from iacgen.design.facility.cables import needs
from iacgen.design.facility.cooling import cdus, heat, rise_k, supply_class
from iacgen.design.facility.energy import energy
from iacgen.design.facility.feeds import dark_w, loads
from iacgen.design.model import Design

Fact = tuple[str, str]


def facts(design: Design) -> tuple[Fact, ...]:
    """One line a subject and hall."""
    return tuple(fact for _, hall in sorted(design.facilities.items()) for fact in _hall(hall, design))


def _hall(hall: Facility, design: Design) -> Iterator[Fact]:
    floor = hall.floor
    room = f" of {floor.rows:,}" if floor.rows else ""
    yield f"Floor of {hall.site}", f"{len(hall.racks):,} racks in {hall.rows:,}{room} rows of {floor.row_length}" + _weight(hall) + _cables(hall, design)
    if hall.feeds:
        yield f"Feeds of {hall.site}", _feeds(hall)
    if hall.plant:
        yield f"Heat of {hall.site}", _heat(hall)
        if units_ := cdus(hall):
            yield f"CDUs of {hall.site}", f"{units_.needed} for the heat, {units_.installed} with {hall.plant.redundancy}; {units_.standing} stand there, counted on for {units.kilowatts(units_.capacity_w)}"
        year = energy(hall)
        assert year
        yield f"Energy of {hall.site}", f"{year.hall_mwh:,.0f} MWh a year at full draw, of which machines {year.machines_mwh:,.0f} MWh: an estimated PUE of {year.pue:.2f}"


def _cables(hall: Facility, design: Design) -> str:
    longest = [(name, max(needs(hall, fabric))) for name, fabric in sorted(design.fabrics.items()) if fabric.site == hall.site and fabric.tiers]
    return f"; the longest cables: {', '.join(f'{name} {metres:.1f} m' for name, metres in longest)}" if longest else ""


def _weight(hall: Facility) -> str:
    heaviest = max(hall.racks, key=lambda rack: rack.weight_kg, default=None)
    if heaviest is None or not hall.limits.weight_kg:
        return ""
    unknown = sum(thing.weight_kg is None for rack in hall.racks for thing in rack.contents)
    return f"; the heaviest holds {heaviest.weight_kg:,.0f} of {hall.limits.weight_kg:,} kg" + (f", without {unknown:,} things whose weight is not published" if unknown else "")


def _feeds(hall: Facility) -> str:
    assert hall.feeds
    each = loads(hall)
    text = f"{hall.feeds.count} of {units.kilowatts(hall.feeds.capacity_w)}, {hall.feeds.redundancy}: each carries up to {units.kilowatts(max(load.normal_w for load in each))}"
    if hall.feeds.redundancy == "N" or hall.feeds.count == 1:
        return text + f"; racks of up to {units.kilowatts(max(dark_w(hall, load.number) for load in each))} go dark with one feed"
    return text + f", and {units.kilowatts(max(load.worst_w for load in each))} when another is lost"


def _heat(hall: Facility) -> str:
    plant = hall.plant
    assert plant
    split, out = heat(hall), []
    if split.liquid_w:
        out.append(f"{units.kilowatts(split.liquid_w)} into water, {split.litres_per_min:,.0f} l/min that get {rise_k(plant):g} K warmer")
    if split.air_w:
        out.append(f"{units.kilowatts(split.air_w)} into air, {split.m3_per_h:,.0f} m³/h")
    kind = "air" if plant.kind == "air" else "water"
    return f"{'; '.join(out) or 'none that is known'}; {kind} of {plant.supply_c} °C is class {supply_class(plant)} of ASHRAE"
