"""Heat into water and air, coolant flow, CDUs, temperature classes."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from .model import Facility, Plant, Redundancy

WATER_KG_PER_L = 0.9957  # at 30 degrees Celsius (NIST, thermophysical properties of fluid systems)
WATER_J_PER_KG_K = 4180  # likewise; glycol in the water takes up to a twentieth more flow
AIR_KG_PER_M3 = 1.2  # standard air (ASHRAE Handbook, Fundamentals)
AIR_J_PER_KG_K = 1005  # likewise
CFM_PER_M3_PER_S = 2118.88  # cubic feet a minute

LIQUID_SHARE = {"air": 0.0, "rear-door": 1.0, "direct-liquid": 0.87}
"""Share of the heat that leaves in liquid: of everything behind rear doors, which are taken to leave the room neutral, as doors with
fans are rated for; of machines with cold plates, which take 115 of the 132 kW of a GB200 NVL72 rack (HPE, QuickSpecs of the GB200
NVL72 by HPE). Machines without cold plates give theirs to the air, whatever the plant."""

RISE_K = {"air": 15.0, "rear-door": 10.0, "direct-liquid": 10.0}
"""By how much air or coolant gets warmer: 15 K is what servers with 8 GPUs give at moderate fan speed (1,105 CFM carry 11.3 kW of a
DGX H100, user guide: 18 K), 10 K is the usual rise of water in a rack (assumed)."""

DOOR_APPROACH_K = 5  # by how much the air behind a rear door stays warmer than its water (assumed)

WATER_CLASSES = {17: "W17", 27: "W27", 32: "W32", 40: "W40", 45: "W45"}
"""Warmest facility water, degrees Celsius, of each class (ASHRAE TC 9.9, Thermal Guidelines, 5th edition; W+ above)."""

AIR_CLASSES = {"recommended": (18, 27), "A1": (15, 32), "A2": (10, 35), "A3": (5, 40), "A4": (5, 45)}
"""Air at the inlet of servers, degrees Celsius: recommended for all classes, then allowed in each (same source)."""


@dataclass(frozen=True)
class Heat:
    """Watts of heat by the way that they leave, and the flow that takes them: water in litres a minute, air in cubic metres an hour."""

    liquid_w: float
    air_w: float
    litres_per_min: float
    m3_per_h: float


def litres_per_minute(watts: float, rise_k: float) -> float:
    """Water that carries ``watts`` away while it gets ``rise_k`` warmer: Q = m c dT (first law, ISO 80000-5), m by volume."""
    return 60 * watts / (WATER_KG_PER_L * WATER_J_PER_KG_K * rise_k)


def air_m3_per_hour(watts: float, rise_k: float) -> float:
    """Air that carries ``watts`` away while it gets ``rise_k`` warmer: Q = V rho c dT."""
    return 3600 * watts / (AIR_KG_PER_M3 * AIR_J_PER_KG_K * rise_k)


def liquid_share(facility: Facility) -> float:
    """Share of the hall's heat that leaves in liquid: as stated, or by the kind of plant and by what has cold plates."""
    plant = facility.plant
    assert plant
    if plant.liquid_share is not None:
        return plant.liquid_share
    plated = facility.plated_w / facility.power_w if plant.kind == "direct-liquid" and facility.power_w else 1.0
    return LIQUID_SHARE[plant.kind] * plated


def rise_k(plant: Plant) -> float:
    """By how much the air or the coolant gets warmer, as stated or by the kind."""
    return plant.rise_k or RISE_K[plant.kind]


def heat(facility: Facility) -> Heat:
    """How the heat of a hall with a plant leaves it. All power becomes heat; what is not in the liquid is in the air."""
    assert facility.plant
    plant = facility.plant
    liquid = facility.power_w * liquid_share(facility)
    air = facility.power_w - liquid
    return Heat(liquid, air, litres_per_minute(liquid, rise_k(plant)), air_m3_per_hour(air, rise_k(plant) if plant.kind == "air" else RISE_K["air"]))


def installed(units: int, redundancy: Redundancy) -> int:
    """Units to install where so many are needed: one more for N+1, twice as many for 2N (Uptime Institute, Tier Standard: Topology)."""
    return {"N": units, "N+1": units + 1, "2N": 2 * units}[redundancy]


def counted_on(units: int, redundancy: Redundancy) -> int:
    """Units that still run when those that are redundant rest."""
    return {"N": units, "N+1": max(0, units - 1), "2N": units // 2}[redundancy]


@dataclass(frozen=True)
class Cdus:
    """Coolant distribution units: how many the heat takes, how many with the redundant ones, how many stand there, and the heat
    that those are counted on for, in watts."""

    needed: int
    installed: int
    standing: int
    capacity_w: int


def cdus(facility: Facility) -> Cdus | None:
    """The CDUs of a hall; None where none are stated."""
    plant = facility.plant
    if plant is None or plant.cdu_w is None:
        return None
    needed = ceil(heat(facility).liquid_w / plant.cdu_w)
    wanted = installed(needed, plant.redundancy)
    standing = wanted if plant.cdus is None else plant.cdus
    return Cdus(needed, wanted, standing, counted_on(standing, plant.redundancy) * plant.cdu_w)


def water_class(supply_c: float) -> str:
    """The class of facility water that this supply temperature asks of machines and doors."""
    return next((name for most, name in WATER_CLASSES.items() if supply_c <= most), "W+")


def air_class(supply_c: float) -> str:
    """The narrowest range of inlet air that holds this temperature; "none" outside all."""
    return next((name for name, (low, high) in AIR_CLASSES.items() if low <= supply_c <= high), "none")


def supply_class(plant: Plant) -> str:
    """The class of the plant's supply temperature: of air for air cooling, else of water."""
    return air_class(plant.supply_c) if plant.kind == "air" else water_class(plant.supply_c)


def inlet_c(plant: Plant) -> int | None:
    """The air that machines breathe: the supply, or what a rear door leaves of it. None where the coolant says nothing about the air."""
    return {"air": plant.supply_c, "rear-door": plant.supply_c + DOOR_APPROACH_K}.get(plant.kind)
