"""What the targets and the judges get: the designed cluster, its jobs, where their ranks sit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..diagnostics import Diagnostic
from ..design.model import Design
from ..training.plan import Job
from .model import Placement


@dataclass(frozen=True)
class Project:
    """``placements`` has one entry for each of ``jobs``; ``left`` is what was found and lets files be written all the same."""

    name: str
    design: Design
    jobs: Mapping[str, Job]
    placements: Mapping[str, Placement]
    left: tuple[Diagnostic, ...] = ()
