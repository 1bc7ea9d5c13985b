"""Machines with cold plates in a hall that has no coolant.

Why: their processors have no fans. Without coolant they do not start, or stop within seconds.

Bad::

    sites:
      hall: {kind: on-prem, rack: {power: 160kW}, cooling: {kind: air, capacity: 400kW}}
    nodes:
      gpu: {site: hall, system: dgx-gb200, count: 18}

Good: ``cooling: {kind: direct-liquid, capacity: 400kW, cdu: {capacity: 250kW}}``.

Source: NVIDIA DGX GB Rack Scale Systems User Guide, compute trays.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...diagnostics import Related
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC589", "plates-without-coolant")
def check(subject: Subject) -> Iterator[Found]:
    for name, facility in subject.design.facilities.items():
        plated = [pool.name for pool in subject.design.pools.values() if pool.site == name and pool.system.cooling == "hybrid"]
        if plated and facility.plant and facility.plant.kind != "direct-liquid":
            yield Found(f"{', '.join(plated)} cannot run on {facility.plant.kind} cooling", ("sites", name, "cooling", "kind"), tuple(Related(("nodes", pool, "system"), "has cold plates") for pool in plated))
