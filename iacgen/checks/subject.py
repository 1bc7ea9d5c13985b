"""What the checks of the designed cluster look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..blueprint import Blueprint
from ..design import Design
from ..training import Job


@dataclass(frozen=True)
class Subject:
    """``jobs`` holds those jobs that add up and fit."""

    blueprint: Blueprint
    design: Design
    jobs: Mapping[str, Job]
