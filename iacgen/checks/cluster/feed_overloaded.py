"""A feed that carries more than it can, once another feed is lost.

Why: redundant supplies move their load to the other feed within milliseconds. If that is too much for it, its breaker opens too, and
the hall is dark because of one fault: it was redundant on paper.

Bad::

    sites:
      hall: {kind: on-prem, power: {feeds: 2, redundancy: 2N, capacity: 150kW}}
    nodes:
      gpu: {site: hall, system: dgx-h100, count: 16}       # 163 kW, all of it on the feed that is left

Good: ``capacity: 200kW``. With ``redundancy: "N"`` a feed carries its own racks alone and nothing is asked of the others.

Source: Uptime Institute, Tier Standard: Topology, on N, N+1 and 2N; sum of the data sheets' maximum powers.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...design.facility.feeds import loads
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC582", "feed-overloaded")
def check(subject: Subject) -> Iterator[Found]:
    for name, facility in subject.design.facilities.items():
        over = [load for load in loads(facility) if facility.feeds and load.worst_w > facility.feeds.capacity_w]
        if over and facility.feeds:
            worst = max(over, key=lambda load: load.worst_w)
            lost = "" if worst.normal_w > facility.feeds.capacity_w else " once another is lost"
            message = f"feed {worst.number} carries {worst.worst_w / 1000:,.1f} kW{lost} and is made for {facility.feeds.capacity_w / 1000:,.1f} kW"
            others = {1: "", 2: "; so does another"}.get(len(over), f"; so do {len(over) - 1} others")
            yield Found(message + others, ("sites", name, "power", "capacity"))
