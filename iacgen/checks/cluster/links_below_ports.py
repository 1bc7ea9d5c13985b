"""Links that are slower than the machine's ports.

Why: both ends of a cable run at the speed of the slower one. The adapters' rate was paid for and is not there.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 8}        # ports of 400 Gb/s
    fabrics:
      compute: {connects: [gpu], switch: qm8700}           # ports of 200 Gb/s

Good: ``switch: qm9700``.

Source: the speeds of both in the catalog.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...diagnostics import Related
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC533", "links-below-ports", "warning")
def check(subject: Subject) -> Iterator[Found]:
    for name in subject.blueprint.fabrics:
        fabric = subject.design.fabrics[name]
        for pool in fabric.pools if fabric.purpose in ("compute", "storage") else ():
            ports, links = fabric.nics[pool].gbps, fabric.link_gbps[pool] * fabric.planes
            if links < ports:
                yield Found(f"the ports of {pool} run at {ports} Gb/s, and the switch at {links} Gb/s", ("fabrics", name, "switch"), (Related(("nodes", pool, "system"), f"has ports of {ports} Gb/s"),))
