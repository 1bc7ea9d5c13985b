"""What the hall draws beside its machines: an estimate of PUE from stated assumptions, and the energy of a year.

PUE is the energy of the hall over that of its machines (ISO/IEC 30134-2). The estimate adds up the losses on the way of the power
and the power of the cooling at full draw; weather, part load and lights are not in it.
"""

from __future__ import annotations

from dataclasses import dataclass

from .cooling import CFM_PER_M3_PER_S, LIQUID_SHARE, RISE_K, air_m3_per_hour, liquid_share, rise_k
from .model import Facility, Plant

HOURS_PER_YEAR = 8760

UPS_EFFICIENCY = 0.95  # 90 % to 99 % for halls of AI (Shehabi et al., 2024 United States Data Center Energy Usage Report, LBNL-2001637, table 4.3)
DISTRIBUTION_EFFICIENCY = 0.98  # transformers and power distribution units (assumed)
W_PER_TON = 3516.85  # heat of one ton of refrigeration
CHILLED_W_PER_TON = 800  # chillers, pumps and towers: "good" (DOE FEMP, Best Practices Guide for Energy-Efficient Data Center Design)
FAN_W_PER_CFM = 0.75  # fans of the room: "good" (same guide)
WARM_W_PER_W = 0.03  # pumps and dry coolers for warm water (assumed; the whole overhead of NREL's ESIF is 0.04, NREL/TP-7A40-72196)
WARM_C = 32  # from here on water can be cooled without compressors in most climates (ASHRAE TC 9.9, class W32)


@dataclass(frozen=True)
class Energy:
    """PUE, and megawatt-hours of a year at full draw: of the machines and of the whole hall."""

    pue: float
    machines_mwh: float
    hall_mwh: float


def pue(plant: Plant, share: float) -> float:
    """Estimated PUE: losses of the power's way, and cooling for each watt of heat; ``share`` of it leaves in liquid."""
    chilled = CHILLED_W_PER_TON / W_PER_TON
    air_rise = rise_k(plant) if plant.kind == "air" else RISE_K["air"]
    fans = FAN_W_PER_CFM * air_m3_per_hour(1, air_rise) / 3600 * CFM_PER_M3_PER_S
    liquid = WARM_W_PER_W if plant.kind != "air" and plant.supply_c >= WARM_C else chilled
    return 1 / (UPS_EFFICIENCY * DISTRIBUTION_EFFICIENCY) + share * liquid + (1 - share) * (chilled + fans)


def energy(facility: Facility) -> Energy | None:
    """PUE and energy of a year with all machines at full draw; None where no plant is stated."""
    if facility.plant is None:
        return None
    ratio = pue(facility.plant, liquid_share(facility))
    machines = facility.power_w * HOURS_PER_YEAR / 1e6
    return Energy(ratio, machines, ratio * machines)


def assumptions(facility: Facility) -> tuple[str, ...]:
    """What flow, PUE and energy rest on, one sentence each."""
    plant = facility.plant
    if plant is None:
        return ()
    share, out, taken = liquid_share(facility), [], []
    if plant.liquid_share is None and plant.kind == "rear-door":
        taken.append("all heat goes into the rear doors (cooling.liquid_share)")
    if plant.liquid_share is None and plant.kind == "direct-liquid":
        taken.append(f"cold plates take {LIQUID_SHARE[plant.kind]:.0%} of the heat of machines that have them, {share:.0%} of all (cooling.liquid_share; 115 of the 132 kW of a GB200 NVL72 rack)")
    if plant.rise_k is None:
        taken.append(f"{'air' if plant.kind == 'air' else 'water'} gets {rise_k(plant):g} K warmer (cooling.rise_k)")
    if taken:
        out.append(f"In {facility.site}, where the blueprint says nothing else, {' and '.join(taken)}.")
    parts = [f"a power path of {UPS_EFFICIENCY * DISTRIBUTION_EFFICIENCY:.0%} (UPS {UPS_EFFICIENCY:.0%}, LBNL-2001637 table 4.3; distribution {DISTRIBUTION_EFFICIENCY:.0%}, assumed)"]
    warm = plant.kind != "air" and plant.supply_c >= WARM_C
    if share < 1 or not warm:
        parts.append(f"{CHILLED_W_PER_TON / W_PER_TON:.2f} W of chillers, pumps and towers for each watt of heat (0.8 kW a ton, DOE FEMP)")
    if share < 1:
        parts.append(f"{FAN_W_PER_CFM} W of fans for each CFM of air (DOE FEMP)")
    if warm and share:
        parts.append(f"{WARM_W_PER_W} W for each watt in water of {WARM_C} °C and more, which needs no compressors (assumed)")
    out.append(f"PUE of {facility.site} adds up {', '.join(parts)}; a year has 8,760 hours at full draw.")
    return tuple(out)
