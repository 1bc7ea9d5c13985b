"""Cables longer than anything that the catalog has for their speed.

Why: a link that is too long does not come up, or comes up with errors. Lengths follow from where racks stand: up to the trays, along
the row, across the rows and down, with half a metre at each end.

Bad::

    sites:
      hall: {kind: on-prem, rack: {row_length: 4}}
    nodes:
      gpu: {site: hall, system: hgx-h100, count: 2000}
    fabrics:
      mgmt: {site: hall, purpose: management, connects: [gpu], technology: ethernet, switch: sn2201}   # 1 Gb/s: 100 m

Good: ``row_length: 40``, which makes the hall as deep as it is long.

Source: IEEE 802.3, 1000BASE-T, 100 m; NVIDIA LinkX product specifications: 3 m of passive and 5 m of active copper, 50 m of
multimode fibre, 100 m, 500 m and 2 km of single-mode fibre at 400 Gb/s.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...design.facility.cables import ALWAYS_M, at_most, too_long
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC580", "cable-beyond-reach", "warning")
def check(subject: Subject) -> Iterator[Found]:
    for name, fabric in subject.design.fabrics.items():
        facility = subject.design.facilities.get(fabric.site)
        if facility is None or at_most(facility, fabric) <= ALWAYS_M:
            continue
        for found in too_long(facility, fabric):
            message = f"{found.count:,} cables of {found.gbps} Gb/s ({found.joins}) need up to {found.longest_m:.0f} m, and none reaches beyond {found.reach_m:g} m"
            yield Found(message, ("fabrics", name), help=f"put more racks into a row: sites.{fabric.site}.rack.row_length", on_key=True)
