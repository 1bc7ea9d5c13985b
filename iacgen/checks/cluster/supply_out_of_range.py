"""A supply temperature that this kind of cooling is not made for.

Why: air for servers is recommended from 18 to 27 degrees. Above, fans take the power that was saved and GPUs slow down; below, water
condenses. Water of a rear door follows the air; direct liquid cooling takes up to 45 degrees.

Bad::

    sites:
      hall: {kind: on-prem, cooling: {kind: air, capacity: 100kW, supply_c: 35}}

Good: ``supply_c: 24``.

Source: ASHRAE TC 9.9, thermal guidelines: recommended range of classes A1 to A4; liquid classes up to W45.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject

_RANGE = {"air": (18, 27), "rear-door": (14, 27), "direct-liquid": (14, 45)}  # degrees Celsius


@rule("IAC539", "supply-out-of-range", "warning")
def check(subject: Subject) -> Iterator[Found]:
    for name, site in subject.blueprint.sites.items():
        if cooling := getattr(site, "cooling", None):
            low, high = _RANGE[cooling.kind]
            if not low <= cooling.supply_c <= high:
                yield Found(f"{cooling.supply_c} degrees; {cooling.kind} cooling is made for {low} to {high}", ("sites", name, "cooling", "supply_c"))
