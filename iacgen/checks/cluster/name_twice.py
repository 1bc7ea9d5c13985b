"""Two things of the cluster with one name.

Why: hosts, switches and racks are known by their names in every list: to whoever pulls a cable, to NetBox, to the subnet manager. The names
of switches and racks follow from those of fabrics and pools, and two of those can come out alike.

Bad::

    fabrics:
      c: {topology: rail-fat-tree}
      c-su1: {topology: fat-tree}                  # both have a switch c-su1-leaf1

Good: names none of which begins with another and a hyphen.

Source: NetBox documentation, devices: names are unique within a site; NVIDIA UFM Cable Validation Tool, P2P file: ends are told by
node name.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...diagnostics import Related
from ..rule import Found, Path, rule
from ..subject import Subject


@rule("IAC570", "name-twice")
def check(subject: Subject) -> Iterator[Found]:
    design = subject.design
    seen: dict[str, tuple[str, Path]] = {host: (f"a host of pool {pool.name}", ("nodes", pool.name)) for pool in design.pools.values() for host in pool.hosts}
    things: list[tuple[str, str, Path]] = [(name, f"a switch of fabric {fabric.name}", ("fabrics", fabric.name)) for fabric in design.fabrics.values() for name in fabric.switch_names]
    told: set[Path] = set()
    for name, what, path in things:
        if name in seen and path not in told:
            told.add(path)
            other, there = seen[name]
            yield Found(f"{name} is {what} and {other}", path, (Related(there, other),), on_key=True)
        seen.setdefault(name, (what, path))
    for facility in design.facilities.values():
        racks: set[str] = set()
        for rack in facility.racks:
            if rack.name in racks and ("sites", facility.site) not in told:
                told.add(("sites", facility.site))
                yield Found(f"two racks are called {rack.name}: rename the pool or the fabric they are named after", ("sites", facility.site), on_key=True)
            racks.add(rack.name)
