"""facility/: what stands where, what hangs on which feed, how heat leaves, and the cables to buy, as tables for whoever builds."""

from __future__ import annotations

from collections.abc import Iterator

from iacgen.design.facility import Facility, Rack
from iacgen.design.facility.cables import parts, runs
from iacgen.design.facility.cooling import cdus, heat, rise_k, supply_class
from iacgen.design.facility.energy import energy
from iacgen.design.facility.feeds import feeds_of, loads
from iacgen.design.model import Design
from iacgen.placement.project import Project
from iacgen.render import render as render_template

Row = tuple[str | int | float | None, ...]


def render(project: Project) -> dict[str, str]:
    """The tables of all halls; a file that would have no row is left out. None where all is in a cloud."""
    design = project.design
    halls = [design.facilities[name] for name in sorted(design.facilities)]
    tables: dict[str, tuple[tuple[str, ...], list[Row]]] = {
        "racks": (("site", "row", "place", "rack", "unit", "units", "name", "model", "power_w", "weight_kg"), [row for hall in halls for row in _racks(hall)]),
        "power": (("site", "row", "place", "rack", "power_w", "limit_w", "not_counted", "feeds"), [row for hall in halls for row in _power(hall)]),
        "feeds": (("site", "feed", "capacity_w", "normal_w", "worst_w_one_lost"), [row for hall in halls for row in _feeds(hall)]),
        "cooling": (("site", "what", "value", "unit"), [row for hall in halls for row in _cooling(hall)]),
        "cables": (("fabric", "joins", "gbps", "part", "model", "part_number", "length_m", "links", "count"), list(_cables(design))),
    }
    return {f"facility/{name}.csv": render_template("facility/table.csv.j2", head=head, rows=rows) for name, (head, rows) in tables.items() if rows}


def _racks(hall: Facility) -> Iterator[Row]:
    """Every rack from the top down, as one stands before it."""
    for rack in _in_order(hall):
        for thing in reversed(rack.contents):
            yield (hall.site, rack.row, rack.place, rack.name, thing.unit, thing.units, thing.name, thing.model, thing.power_w, thing.weight_kg)


def _in_order(hall: Facility) -> list[Rack]:
    return sorted(hall.racks, key=lambda rack: (rack.row, rack.place))


def _power(hall: Facility) -> Iterator[Row]:
    racks = _in_order(hall)
    on = [tuple(feed + 1 for feed in feeds) for feeds in feeds_of(racks, hall.feeds, hall.floor.row_length)] if hall.feeds else [()] * len(racks)
    for rack, feeds in zip(racks, on, strict=True):
        unknown = sum(thing.power_w is None for thing in rack.contents)
        known = rack.power_w if unknown < len(rack.contents) else None
        yield (hall.site, rack.row, rack.place, rack.name, known, hall.limits.power_w, unknown, " ".join(map(str, feeds)))


def _feeds(hall: Facility) -> Iterator[Row]:
    for load in loads(hall):
        assert hall.feeds
        yield (hall.site, load.number, hall.feeds.capacity_w, load.normal_w, load.worst_w)


def _cooling(hall: Facility) -> Iterator[Row]:
    plant = hall.plant
    if plant is None:
        return
    split, units, year = heat(hall), cdus(hall), energy(hall)
    assert year
    yield (hall.site, "kind", plant.kind, "")
    yield (hall.site, "redundancy", plant.redundancy, "")
    yield (hall.site, "supply temperature", plant.supply_c, "degrees C")
    yield (hall.site, "class of the supply temperature", supply_class(plant), "ASHRAE")
    yield (hall.site, "rise", rise_k(plant), "K")
    yield (hall.site, "heat", round(hall.power_w / 1000, 1), "kW")
    yield (hall.site, "heat into liquid", round(split.liquid_w / 1000, 1), "kW")
    yield (hall.site, "heat into air", round(split.air_w / 1000, 1), "kW")
    yield (hall.site, "capacity", round(plant.capacity_w / 1000, 1), "kW")
    if split.liquid_w:
        yield (hall.site, "coolant flow", round(split.litres_per_min), "l/min")
    if split.air_w:
        yield (hall.site, "air flow", round(split.m3_per_h), "m3/h")
    if units:
        yield (hall.site, "CDUs for the heat", units.needed, "")
        yield (hall.site, "CDUs with the redundant ones", units.installed, "")
        yield (hall.site, "CDUs that stand there", units.standing, "")
        yield (hall.site, "heat that the CDUs are counted on for", round(units.capacity_w / 1000, 1), "kW")
    yield (hall.site, "PUE, estimated", round(year.pue, 2), "")
    yield (hall.site, "energy of a year, machines at full draw", round(year.machines_mwh), "MWh")
    yield (hall.site, "energy of a year, whole hall", round(year.hall_mwh), "MWh")


def _cables(design: Design) -> Iterator[Row]:
    for name, fabric in sorted(design.fabrics.items()):
        if hall := design.facilities.get(fabric.site):
            laid = runs(hall, fabric)
            numbers = {(cable.model, cable.gbps): cable.part_numbers for run in laid for cable in run.cables}
            for part in parts(laid):
                number = numbers.get((part.model, part.gbps), {}).get(part.length_m or 0) if part.what == "cable" else part.model
                yield (name, part.joins, part.gbps, part.what, part.model, number, _whole(part.length_m), part.links, part.count)


def _whole(metres: float | None) -> float | None:
    """7 rather than 7.0."""
    return int(metres) if metres is not None and metres == int(metres) else metres
