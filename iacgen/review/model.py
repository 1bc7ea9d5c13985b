"""What a review is made of: two sides, the changes between them, and what each means for a cluster that runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from ..blueprint import Blueprint
from ..design import Design
from ..diagnostics import Diagnostic
from ..placement.project import Project

Path = tuple[str | int, ...]


class Effect(IntEnum):
    """What a change asks of a cluster that runs, from the mildest to the worst."""

    NOTHING = 0
    RECONFIGURE = 1
    RESTART = 2
    DRAIN = 3
    REPLACE = 4
    STOP = 5
    RECABLE = 6
    DESTROY = 7
    IMPOSSIBLE = 8

    @property
    def words(self) -> str:
        """As a person says it."""
        return _WORDS[self]

    @property
    def key(self) -> str:
        """As files and JSON name it."""
        return self.name.lower()


_WORDS = {
    Effect.NOTHING: "nothing to do",
    Effect.RECONFIGURE: "reconfigure",
    Effect.RESTART: "restart a daemon",
    Effect.DRAIN: "drain and reboot nodes",
    Effect.REPLACE: "replace nodes",
    Effect.STOP: "stop the fleet",
    Effect.RECABLE: "re-cable",
    Effect.DESTROY: "destroys data",
    Effect.IMPOSSIBLE: "impossible",
}


@dataclass(frozen=True)
class Side:
    """One of the two blueprints and all that follows from it; later values are None where an earlier stage found an error.

    ``tree`` is what ``generate`` writes, path → text, empty where there is no project.
    """

    name: str
    blueprint: Blueprint | None = None
    design: Design | None = None
    project: Project | None = None
    findings: tuple[Diagnostic, ...] = ()
    tree: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """One difference between two effective blueprints.

    ``section`` and ``key`` name the model and the key that hold it (``NodePool``, ``count``); ``old`` and ``new`` are plain data as
    ``resolve`` prints it, None where there is nothing. A whole entry of a map that comes or goes is one change, whose section is the
    model that holds the map (``Blueprint``, ``nodes``) and whose path ends in the entry's name.
    """

    path: Path
    section: str
    key: str
    old: Any
    new: Any


@dataclass(frozen=True)
class Consequence:
    """What comes of a change: how bad, why, and what to do. ``old`` and ``new`` are short words; ``source`` is what said so: ``policy``,
    ``terraform``, ``slurm`` or ``fabric``."""

    effect: Effect
    path: Path
    old: str | None
    new: str | None
    reason: str
    action: str
    source: str = "policy"
