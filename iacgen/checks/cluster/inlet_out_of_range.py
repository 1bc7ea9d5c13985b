"""Air that is colder or warmer than the machines may breathe.

Why: outside the range of its maker a machine slows down, and its warranty ends. Air behind a rear door is some 5 kelvin warmer than
the door's water.

Bad::

    sites:
      hall: {kind: on-prem, cooling: {kind: rear-door, capacity: 400kW, supply_c: 27}}
    nodes:
      gpu: {site: hall, system: dgx-h100, count: 16}       # 5 to 30 degrees; behind the doors it is 32

Good: ``supply_c: 20``.

Source: NVIDIA DGX user guides, environmental specifications.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...design.facility.cooling import inlet_c
from ...diagnostics import Related
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC585", "inlet-out-of-range", "warning")
def check(subject: Subject) -> Iterator[Found]:
    for name, facility in subject.design.facilities.items():
        air = inlet_c(facility.plant) if facility.plant else None
        for pool in subject.design.pools.values():
            allowed = pool.system.inlet_c
            if pool.site == name and air is not None and allowed and not allowed[0] <= air <= allowed[1]:
                message = f"{pool.name} breathes air of {air} degrees; {pool.system.name} is made for {allowed[0]:g} to {allowed[1]:g}"
                yield Found(message, ("sites", name, "cooling", "supply_c"), (Related(("nodes", pool.name, "system"), "what it is made for"),))
