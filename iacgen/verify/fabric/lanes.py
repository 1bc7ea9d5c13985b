"""What opensm tells adapters: their P_Key tables, the service level of each path, and the lane that a level travels on."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .discovered import Wiring
from .routes import Ints, Lanes, Routes
from .session import LANES, Live

_PROBE = Path(__file__).parents[1] / "drivers" / "subnet_probe.py"
_LID = re.compile(r"^0x([0-9a-f]+) 0x([0-9a-f]+) 0x[0-9a-f]+$", re.MULTILINE)
_ROW = re.compile(r"^\d+ +\d+ +: ([0-9 ]+)$", re.MULTILINE)
_KEYS = 32  # of one block of a P_Key table
EVERY = 300
"""Adapters up to which the lane of every pair is asked for."""
_CHECKED = 16  # beyond, of so many destinations of a leaf one is asked for twice
_PROBE_S = 240.0
_REPEATS = 24  # as often as the driver asks for the level of one pair


class ProbeError(Exception):
    """The administration of the subnet does not answer."""


def lids(live: Live, adapters: Sequence[str], found: Wiring) -> list[int]:
    """The LID of each adapter's port, from opensm's own list. Raises KeyError for a port that has none."""
    by_guid = {int(guid, 16): int(lid, 16) for guid, lid in _LID.findall((live.folder / "guid2lid").read_text())}
    return [by_guid[found.guids[name] + 1] for name in adapters]


def probe(live: Live, manager: int, numbers: Sequence[int], pairs: Ints | None = None, key: int = 1) -> None:
    """Let the driver write ``pkeys`` and, where there are ``pairs`` of numbers, their service levels into the folder of the session.

    ``manager`` is the LID of the subnet manager, ``numbers`` those of the adapters, ``key`` its sa_key. Raises ProbeError.
    """
    (live.folder / "lids").write_bytes(np.array(numbers, dtype=">u2").tobytes())
    if pairs is not None:
        (live.folder / "pairs").write_bytes(np.array(numbers, dtype=">u2")[pairs].tobytes())
    answer = live.ask(sys.executable, "-I", _PROBE, live.folder, str(manager), str(key), timeout=_PROBE_S)
    if not answer.ok or "PROBE " not in answer.out:
        raise ProbeError((answer.err.strip() or answer.out.strip() or "the probe ended without a word").splitlines()[-1])


def pairs_of(routes: Routes) -> Ints:
    """The (source, destination) pairs, rows of two adapters, whose lane is asked for.

    All, up to :data:`EVERY` adapters. Beyond, one source of each leaf to each destination, in turn, and a second one to some:
    packets of a leaf's adapters to one destination take the same links, and the engines give them the same lanes, which the
    second sources are to confirm.
    """
    count = len(routes.adapters)
    if count <= EVERY:
        return np.argwhere(~np.eye(count, dtype=bool)).astype(np.int32)
    far, rows = np.arange(count), []
    for leaf in range(len(routes.leaves)):
        on = np.flatnonzero(routes.leaf == leaf)
        for first, to in ((0, far), (1, far[leaf % _CHECKED :: _CHECKED])):
            near = on[(to + first) % len(on)]
            near = np.where(near == to, on[(to + first + 1) % len(on)], near)
            rows.append(np.stack([near, to], axis=1)[near != to])
    return np.concatenate(rows).astype(np.int32)


def keys(folder: Path) -> list[tuple[int, ...]]:
    """The P_Key table of each adapter without its empty places, as a set of keys in order; bit 15 marks a full member."""
    table = np.frombuffer((folder / "pkeys").read_bytes(), dtype=">u2").reshape(-1, _KEYS)
    return [tuple(int(key) for key in row if key) for row in table]


def lanes(folder: Path, routes: Routes, pairs: Ints) -> Lanes:
    """``lanes[s, d]`` of every pair of adapters, -1 where there is no path, from the levels of ``pairs``.

    An engine may give out several levels for one path, in turn, to spread the load. Levels that one pair was given are
    therefore one lane here: whatever deadlock they could make together counts. Raises ValueError where two switch ports map
    levels differently, so that a level is no lane, and where adapters of one leaf do not have one lane to a destination.
    """
    table = np.full(256, -1, dtype=np.int8)
    table[:16] = _together(_mapping(folder), folder)
    lane = table[np.frombuffer((folder / "levels").read_bytes(), dtype=np.uint8)]
    near, far = pairs.T
    by_leaf = np.full((len(routes.leaves), len(routes.adapters)), -1, dtype=np.int8)
    by_leaf[routes.leaf[near], far] = lane
    if (by_leaf[routes.leaf[near], far] == lane).all():
        return by_leaf[routes.leaf]
    if len(routes.adapters) > EVERY:
        raise ValueError("adapters of one leaf have different lanes to one destination, and there are too many to ask for each")
    every = np.full((len(routes.adapters),) * 2, -1, dtype=np.int8)
    every[near, far] = lane
    return every


def _mapping(folder: Path) -> list[int]:
    """Service level → lane, as every switch port has it."""
    rows = {tuple(int(lane) for lane in row.split()) for row in _ROW.findall((folder / LANES).read_text())}
    if len(rows) != 1:
        raise ValueError(f"the ports of the switches have {len(rows)} different maps from service level to lane")
    return list(rows.pop())


def _together(of_level: Sequence[int], folder: Path) -> NDArray[np.int8]:
    """Level → the smallest lane among those that are given out in its place."""
    again = np.frombuffer((folder / "again").read_bytes(), dtype=np.uint8)
    lane = np.array(of_level, dtype=np.int8)
    for row in again.reshape(-1, _REPEATS):
        met = np.unique(lane[np.unique(row[row < 16])])
        lane[np.isin(lane, met)] = met.min(initial=127)
    return lane
