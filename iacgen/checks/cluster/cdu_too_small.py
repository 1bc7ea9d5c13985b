"""Coolant distribution units that take over less heat than goes into the liquid.

Why: what a CDU does not take over stays in the coolant, which gets warmer until the machines stop. Those that are redundant do not
count: one of N+1, half of 2N.

Bad::

    sites:
      hall:
        kind: on-prem
        rack: {power: 160kW}
        cooling: {kind: direct-liquid, capacity: 2MW, redundancy: N+1, cdu: {capacity: 500kW, count: 2}}
    nodes:
      gpu: {site: hall, system: dgx-gb200, count: 72}      # 600 kW, of which 522 kW go into the coolant

Good: ``count: 3``, or no count, and the facility's schedule says how many it takes.

Source: first law of thermodynamics; Uptime Institute, Tier Standard: Topology, on N+1 and 2N.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...design.facility.cooling import cdus, heat
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC584", "cdu-too-small")
def check(subject: Subject) -> Iterator[Found]:
    for name, facility in subject.design.facilities.items():
        units = cdus(facility)
        if units and units.capacity_w < heat(facility).liquid_w:
            message = f"{heat(facility).liquid_w / 1000:,.0f} kW go into the liquid and the CDUs are counted on for {units.capacity_w / 1000:,.0f} kW"
            yield Found(message, ("sites", name, "cooling", "cdu"), help=f"count: {units.installed}", on_key=True)
