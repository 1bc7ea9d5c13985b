"""What one judge says about one output tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from iacgen.diagnostics.model import Diagnostic

Status = Literal["passed", "failed", "in-part", "not-applicable", "missing", "other-version", "needs-root"]


@dataclass(frozen=True)
class Verdict:
    """One judge's answer.

    ``status`` is ``passed`` or ``failed`` when the program read the files, ``in-part`` when they are too large for all that it proves, and
    it refused nothing of the rest. Otherwise it did not, because the tree holds none
    for it (``not-applicable``), the program is not here (``missing``), another version than the declared one is
    (``other-version``), or it needs a root account (``needs-root``); ``findings`` then say how to get what lacks.
    ``program`` and ``version`` are those that ran, ``version`` None when none did. ``seconds`` is wall time.
    """

    judge: str
    program: str
    version: str | None
    status: Status
    seconds: float
    findings: tuple[Diagnostic, ...] = ()

    @property
    def proves(self) -> bool:
        """True when the declared program read all of the files and accepted them: the only status that counts as a proof."""
        return self.status == "passed"
