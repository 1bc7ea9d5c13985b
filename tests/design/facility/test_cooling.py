"""Flow, CDUs, classes and energy against rules of thumb, tables and measurements of others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iacgen.design.facility import Facility, Floor, Limits, Plant
from iacgen.design.facility.cooling import air_class, air_m3_per_hour, cdus, counted_on, heat, inlet_c, installed, litres_per_minute, supply_class, water_class
from iacgen.design.facility.energy import assumptions, energy, pue

LITRES_PER_GALLON, M3_PER_H_PER_CFM, BTU_PER_H_PER_KW = 3.785412, 1.699011, 3412.14


def hall(power_w: int, plant: Plant | None, plated_w: int = 0) -> Facility:
    return Facility("hall", (), Limits(48, 1, 1), Floor(), power_w, plant, None, (), plated_w)


@pytest.mark.parametrize(("kw", "kelvin"), [(1, 10), (120, 10), (1407.7, 10), (80, 6)])
def test_water_flow_is_that_of_the_hydronic_rule(kw: float, kelvin: float):
    """gal/min = BTU/h / (500 x rise in degrees Fahrenheit), the rule of the trade for water."""
    rule = kw * BTU_PER_H_PER_KW / (500 * kelvin * 1.8) * LITRES_PER_GALLON
    assert litres_per_minute(kw * 1000, kelvin) == pytest.approx(rule, rel=0.01)


@pytest.mark.parametrize(("kw", "kelvin"), [(1, 11.1), (10.2, 15)])
def test_air_flow_is_that_of_the_rule_for_sensible_heat(kw: float, kelvin: float):
    """CFM = BTU/h / (1.08 x rise in degrees Fahrenheit)."""
    rule = kw * BTU_PER_H_PER_KW / (1.08 * kelvin * 1.8) * M3_PER_H_PER_CFM
    assert air_m3_per_hour(kw * 1000, kelvin) == pytest.approx(rule, rel=0.01)


def test_flow_by_hand():
    """1 kW in water that gets 10 K warmer: 1000 W / (4180 J/kg K x 10 K) = 0.0239 kg/s = 1.44 l/min."""
    assert litres_per_minute(1000, 10) == pytest.approx(1.44, abs=0.005)


@pytest.mark.parametrize(
    ("c", "name"), [(2, "W17"), (17, "W17"), (18, "W27"), (27, "W27"), (30, "W32"), (32, "W32"), (40, "W40"), (45, "W45"), (46, "W+")]
)
def test_water_classes_are_those_of_ashrae(c: int, name: str):
    assert water_class(c) == name


@pytest.mark.parametrize(("c", "name"), [(18, "recommended"), (27, "recommended"), (15, "A1"), (32, "A1"), (10, "A2"), (35, "A2"), (5, "A3"), (40, "A3"), (45, "A4"), (4, "none"), (46, "none")])
def test_air_classes_are_those_of_ashrae(c: int, name: str):
    assert air_class(c) == name


def test_the_supply_is_of_air_or_of_water():
    assert supply_class(Plant("air", 1, "N", 24)) == "recommended"
    assert supply_class(Plant("rear-door", 1, "N", 24)) == "W27"
    assert [inlet_c(Plant(kind, 1, "N", 20)) for kind in ("air", "rear-door", "direct-liquid")] == [20, 25, None]


@pytest.mark.parametrize(("redundancy", "six"), [("N", 6), ("N+1", 7), ("2N", 12)])
def test_redundant_units(redundancy: str, six: int):
    assert installed(6, redundancy) == six
    assert counted_on(six, redundancy) == 6
    assert counted_on(1, redundancy) == {"N": 1, "N+1": 0, "2N": 0}[redundancy]


def test_a_unit_of_eight_gb200_racks():
    """1.2 MW (NVIDIA), of which 115 of 132 kW a rack go into the coolant (HPE): 1,045 kW, one CDU of 1.3 MW, or five of 250 kW."""
    plant = Plant("direct-liquid", 1_300_000, "N+1", 30, cdu_w=1_300_000)
    unit = hall(1_200_000, plant, plated_w=1_200_000)
    assert heat(unit).liquid_w == pytest.approx(1_200_000 * 115 / 132, rel=0.005)
    assert heat(unit).liquid_w + heat(unit).air_w == pytest.approx(1_200_000)
    in_row, in_rack = cdus(unit), cdus(replace(unit, plant=replace(plant, cdu_w=250_000, redundancy="N")))
    assert (in_row.needed, in_row.installed, in_row.capacity_w) == (1, 2, 1_300_000)
    assert (in_rack.needed, in_rack.installed) == (5, 5)
    assert cdus(replace(unit, plant=replace(plant, cdu_w=None))) is None


def test_machines_without_cold_plates_heat_the_air_whatever_the_plant():
    plant = Plant("direct-liquid", 1, "N", 30)
    assert heat(hall(100_000, plant)).liquid_w == 0
    assert heat(hall(100_000, plant, plated_w=50_000)).liquid_w == pytest.approx(43_500)
    assert heat(hall(100_000, replace(plant, liquid_share=0.8))).liquid_w == pytest.approx(80_000)
    assert heat(hall(100_000, Plant("air", 1, "N", 20))).liquid_w == 0
    assert heat(hall(100_000, Plant("rear-door", 1, "N", 20))).liquid_w == 100_000


@pytest.mark.parametrize(
    ("plant", "share", "low", "high"),
    [
        (Plant("air", 1, "N", 20), 0.0, 1.289, 1.763),  # midsize, water-cooled chiller
        (Plant("direct-liquid", 1, "N", 35), 0.87, 1.023, 1.164),  # liquid to the machines, dry cooler
        (Plant("direct-liquid", 1, "N", 20), 0.87, 1.1, 1.763),  # the same with chillers
        (Plant("rear-door", 1, "N", 20), 1.0, 1.1, 1.4),  # FEMP: 1.4 is good, 1.1 is better
    ],
)
def test_pue_is_within_the_range_that_others_simulate(plant: Plant, share: float, low: float, high: float):
    """Shehabi et al., LBNL-2001637, figure 4.4, from whisker to whisker."""
    assert low < pue(plant, share) < high


def test_energy_of_a_year_by_hand():
    """1 MW for 8,760 h is 8,760 MWh; the hall takes PUE times that."""
    year = energy(hall(1_000_000, Plant("air", 1, "N", 20)))
    assert year.machines_mwh == 8760
    assert year.hall_mwh / year.machines_mwh == year.pue
    assert energy(hall(1_000_000, None)) is None


def test_what_was_stated_is_no_assumption():
    bare, told = Plant("rear-door", 1, "N", 20), Plant("rear-door", 1, "N", 20, rise_k=8, liquid_share=0.6)
    text = " ".join(assumptions(hall(1, bare)))
    assert "cooling.rise_k" in text and "cooling.liquid_share" in text and "fans" not in text
    text = " ".join(assumptions(hall(1, told)))
    assert "cooling." not in text and "fans" in text
    assert "no compressors" in " ".join(assumptions(hall(1, Plant("direct-liquid", 1, "N", 35), plated_w=1)))
    assert assumptions(hall(1, None)) == ()
