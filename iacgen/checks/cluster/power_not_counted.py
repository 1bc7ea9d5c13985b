"""Machines whose power nobody has published count as none.

Why: the heat of the hall is added up from the catalog. What it does not know is missing from the sum, and the plant looks larger
than it is.

Bad::

    nodes:
      oss: {site: hall, system: lustre-oss, count: 40}

Good: the product's own catalog entry, with its power.

Source: the entries' own list of what is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...diagnostics import Related
from ..rule import Found, rule
from ..subject import Subject

SHARE = 0.25  # of the hall's machines; below that a margin of the plant covers them


@rule("IAC537", "power-not-counted", "info", lab=None)
def check(subject: Subject) -> Iterator[Found]:
    for name, facility in subject.design.facilities.items():
        pools = {kind: pool.count for kind in facility.unknown if (pool := subject.design.pools.get(kind))}
        machines = sum(pool.count for pool in subject.design.pools.values() if pool.site == name)
        if facility.cooling_w and sum(pools.values()) > SHARE * machines:
            which = ", ".join(f"{count} of {pool}" for pool, count in sorted(pools.items()))
            yield Found(f"the heat of {which} is not in the sum", ("sites", name, "cooling"), tuple(Related(("nodes", pool, "system"), "its power is not known") for pool in sorted(pools)), on_key=True)
