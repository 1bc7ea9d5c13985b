"""A cooling plant with less than a tenth to spare.

Why: figures of power are those of the machines alone. Pumps, cables, a hot day and the next machine come on top, and GPUs slow down
before anything says so.

Bad::

    sites:
      hall: {kind: on-prem, cooling: {kind: air, capacity: 24kW}}
    nodes:
      gpu: {site: hall, system: dgx-h100, count: 2}        # 10.2 kW each, 2.0 kW of switches

Good: ``capacity: 30kW``.

Source: ASHRAE TC 9.9 recommends a margin over the nameplate load; one tenth is a judgement.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject

RESERVE = 0.1


@rule("IAC536", "little-cooling-reserve", "warning")
def check(subject: Subject) -> Iterator[Found]:
    for name, facility in subject.design.facilities.items():
        if facility.cooling_w and facility.cooling_w * (1 - RESERVE) < facility.power_w <= facility.cooling_w:
            share = facility.power_w / facility.cooling_w
            yield Found(f"{facility.power_w / 1000:,.0f} kW take {share:.0%} of the plant", ("sites", name, "cooling", "capacity"))
