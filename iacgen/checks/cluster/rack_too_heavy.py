"""A machine that is heavier than a rack of its hall may carry.

Why: racks are filled up to the weight that they and the floor bear. One machine cannot be divided: a rack that stands on a floor for
less bends it, and nobody notices on paper.

Bad::

    sites:
      hall: {kind: on-prem, rack: {weight_kg: 120}}
    nodes:
      gpu: {site: hall, system: dgx-h100, count: 4}        # 130.45 kg each

Good: ``weight_kg: 1360``, the load that a rack of a GB200 NVL72 puts on its floor.

Source: NVIDIA DGX user guides, mechanical specifications.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject


@rule("IAC583", "rack-too-heavy")
def check(subject: Subject) -> Iterator[Found]:
    for name, facility in subject.design.facilities.items():
        most = facility.limits.weight_kg
        heavy = [rack for rack in facility.racks if most is not None and rack.weight_kg > most]
        if heavy:
            worst = max(heavy, key=lambda rack: rack.weight_kg)
            others = f", and {len(heavy) - 1} more racks" if len(heavy) > 1 else ""
            yield Found(f"{worst.name} holds {worst.weight_kg:,.0f} kg{others}", ("sites", name, "rack", "weight_kg"))
