"""How long a cable has to be, from where its two ends stand.

In a rack it runs straight up or down. Between racks it rises to the trays above them, along the row and across the rows, and comes
down again; cross trays lie everywhere, so that the way is the sum of both distances. At each end half a metre is added for the way
from the middle of a device to the side of the rack and back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .model import Facility

UNIT_M = 0.04445  # EIA-310-E, IEC 60297-3-100
TRAY_M = 0.5  # of the trays above the topmost unit (assumed)
SLACK_M = 0.5  # at each end (assumed)

Metres = NDArray[np.float64]


@dataclass(frozen=True)
class Places:
    """Where things stand, as arrays: number of the rack, metres along the row, across the rows and from the middle up to the trays.

    A thing that stands nowhere in the hall has the rack -1 and no metres (nan).
    """

    rack: NDArray[np.int64]
    along_m: Metres
    across_m: Metres
    up_m: Metres

    def take(self, index: NDArray[np.int64]) -> Places:
        """Those of these numbers, which may repeat."""
        return Places(self.rack[index], self.along_m[index], self.across_m[index], self.up_m[index])


def places(facility: Facility, names: Sequence[str]) -> Places:
    """Where the things of these names stand."""
    index = np.array([facility.index_of.get(name, -1) for name in names], dtype=np.int64)
    return facility.stands.take(index)


def stands(facility: Facility) -> Places:
    """Where everything in the hall stands, in the order of its racks, and one thing more that stands nowhere."""
    floor, top = facility.floor, facility.limits.units * UNIT_M + TRAY_M
    counts = [len(rack.contents) for rack in facility.racks]
    rack = np.append(np.repeat(np.arange(len(counts)), counts), -1)
    spots = np.array([(r.place, r.row) for r in facility.racks], dtype=np.float64).reshape(-1, 2)
    along, across = (np.append(np.repeat(spots[:, i] * step, counts), np.nan) for i, step in ((0, floor.width_m), (1, floor.pitch_m)))
    up = np.append([top - (t.unit - 1 + t.units / 2) * UNIT_M for r in facility.racks for t in r.contents], np.nan)
    return Places(rack, along, across, up)


def lengths(a: Places, b: Places) -> Metres:
    """Metres of cable between each thing of ``a`` and the one of ``b`` at the same position; nan where either stands nowhere."""
    inside = np.abs(a.up_m - b.up_m)
    between = a.up_m + b.up_m + np.abs(a.along_m - b.along_m) + np.abs(a.across_m - b.across_m)
    return np.where(a.rack == b.rack, inside, between) + 2 * SLACK_M


def span(things: Places) -> float:
    """Metres that no cable between any two of these things exceeds."""
    there = things.rack >= 0
    if not there.any():
        return 0.0
    along, across, up = things.along_m[there], things.across_m[there], things.up_m[there]
    return float(2 * up.max() + np.ptp(along) + np.ptp(across) + 2 * SLACK_M)
