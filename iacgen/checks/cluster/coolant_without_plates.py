"""Coolant for machines that have no cold plates.

Why: a machine that is cooled by air gives all its heat to the air, whatever the plant offers. The coolant stays cold, the room gets
hot.

Bad::

    sites:
      hall: {kind: on-prem, cooling: {kind: direct-liquid, capacity: 400kW}}
    nodes:
      gpu: {site: hall, system: dgx-h100, count: 16}       # fans only

Good: ``kind: rear-door``, or ``liquid_share: 0.8`` where your version of the machine has cold plates.

Source: the catalog's cooling of each system.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject


@rule("IAC588", "coolant-without-plates", "warning")
def check(subject: Subject) -> Iterator[Found]:
    for name, facility in subject.design.facilities.items():
        plant = facility.plant
        if plant and plant.kind == "direct-liquid" and plant.liquid_share is None and not facility.plated_w:
            yield Found("nothing in the hall has cold plates: all heat goes into the air", ("sites", name, "cooling", "kind"))
