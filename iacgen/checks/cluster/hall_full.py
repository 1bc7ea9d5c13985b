"""More racks than the hall has places.

Why: racks that do not fit the hall stand in another one, with other lengths of cable, other feeds and another plant than were looked at.

Bad::

    sites:
      hall: {kind: on-prem, rack: {power: 42kW, rows: 1, row_length: 8}}
    nodes:
      gpu: {site: hall, system: dgx-h100, count: 64}       # 16 racks

Good: ``rows: 3``, or no ``rows``, and the report says how many it takes.

Source: the rule by which racks are placed; the places are those that the blueprint states.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject


@rule("IAC586", "hall-full")
def check(subject: Subject) -> Iterator[Found]:
    for name, facility in subject.design.facilities.items():
        rows = facility.floor.rows
        if rows is not None and facility.rows > rows:
            message = f"{len(facility.racks):,} racks, with room for what is planned, take {facility.rows:,} rows of {facility.floor.row_length} places"
            yield Found(message, ("sites", name, "rack", "rows"))
