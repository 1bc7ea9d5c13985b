"""The second opinion: ibdmchk of ibutils reads the same dumps, walks them by its own code and looks for credit loops by its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..process import run
from .discovered import Wiring
from .routes import Lanes

_LIMIT_S = 600.0
_LEVELS = "levels.txt"


@dataclass(frozen=True)
class Opinion:
    """``scanned`` paths between adapters, ``missing`` of them not there; ``loops`` is None where it came to no word about them.

    ``said`` are its error lines, at most three.
    """

    scanned: int
    missing: int
    loops: bool | None
    said: tuple[str, ...] = ()


def ask(folder: Path, program: Path) -> Opinion:
    """ibdmchk on the dumps of a session; with the levels of the paths if :func:`write_levels` has laid them there.

    It dies of signal 11 after a whole report, nearly always, and returns 0 or 1 as it likes: only its words count. stdbuf makes
    it print line by line, or else the last lines would die with it.
    """
    levels = ("-c", _LEVELS) if (folder / _LEVELS).exists() else ()
    answer = run(("stdbuf", "-oL", program, "-s", "opensm-subnet.lst", "-f", "opensm.fdbs", "-m", "opensm.mcfdbs", *levels), cwd=folder, timeout=_LIMIT_S)
    return read(answer.out)


def read(text: str) -> Opinion:
    """What a report says."""
    missing = re.search(r"-E- Found (\d+) missing paths out of:(\d+) paths", text)
    scanned = re.search(r"-I- Scanned:(\d+) CA to CA paths", text)
    free, loops = "-I- no credit loops found" in text, "-E- credit loops in routing" in text
    errors = [line for line in text.splitlines() if line.startswith("-E-")]
    if missing:
        return Opinion(int(missing[2]), int(missing[1]), loops or (False if free else None), tuple(errors[:3]))
    return Opinion(int(scanned[1]) if scanned else 0, 0, loops or (False if free else None), tuple(errors[:3]))


def write_levels(folder: Path, found: Wiring, lids: Sequence[int], lanes: Lanes) -> None:
    """Lay down which lane each path has, as ibdmchk reads service levels: source GUID, destination LID, level, with a lane a level."""
    with (folder / _LEVELS).open("w", encoding="ascii") as out:
        for s, name in enumerate(found.adapters):
            source = f"{found.guids[name]:#018x}"
            out.writelines(f"{source} {lid} {lane}\n" for d, (lid, lane) in enumerate(zip(lids, lanes[s].tolist(), strict=True)) if d != s and lane >= 0)
