"""A plant that has no unit more than it needs.

Why: with N units the first that fails, or is serviced, takes the hall above its temperature. A rack of GPUs reaches its limit within
minutes.

Bad::

    sites:
      hall: {kind: on-prem, cooling: {kind: rear-door, capacity: 1600kW, redundancy: "N"}}

Good: ``redundancy: N+1``.

Source: Uptime Institute tiers: N+1 from tier II on.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject


@rule("IAC538", "cooling-without-reserve-unit", "info", lab=None)
def check(subject: Subject) -> Iterator[Found]:
    for name, site in subject.blueprint.sites.items():
        cooling = getattr(site, "cooling", None)
        if cooling and cooling.redundancy == "N":
            yield Found("no unit of the plant can fail", ("sites", name, "cooling", "redundancy"))
