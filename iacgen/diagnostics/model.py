"""A finding is a value: what is wrong, how bad, and which place in the blueprint caused it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]
BlueprintPath = tuple[str | int, ...]


@dataclass(frozen=True)
class Span:
    """A stretch of one line; all numbers count from 1, ``end`` is exclusive. ``name`` is the text that it lies in."""

    line: int
    column: int
    end: int
    name: str = ""


@dataclass(frozen=True)
class Related:
    """A second place that belongs to a finding, with a few words on how."""

    path: BlueprintPath
    note: str


@dataclass(frozen=True)
class Diagnostic:
    """One finding.

    ``path`` is a blueprint path such as ``("fabrics", "compute", "unit")``; the shell turns it into file, line and column.
    ``id`` is stable for ever; ``slug`` names the thing found, never the fix.
    """

    id: str
    slug: str
    severity: Severity
    message: str
    path: BlueprintPath = ()
    related: tuple[Related, ...] = ()
    help: str | None = None
    on_key: bool = False  # mark the key at ``path``, not its value
    at: Span | None = None  # the place itself, for what is no part of the blueprint: a comment, a line that is no YAML
    allowable: bool = False  # an error that a comment in the file may allow, since the files are no worse for it

    @property
    def link(self) -> str:
        """The command that prints the page of this finding; every printer gives it in the same words."""
        return f"iacgen explain {self.id}"


def errors(findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Those findings that stop the run."""
    return [f for f in findings if f.severity == "error"]


def stopping(findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Errors beside which nothing further can be said: all but those that the file may allow."""
    return [f for f in errors(findings) if not f.allowable]


def lines(text: str) -> list[str]:
    """Lines as a ``Span`` counts them: the breaks are those of YAML 1.2, and not, as for ``splitlines``, form feeds and their like."""
    return re.split(r"\r\n|\r|\n", text)
