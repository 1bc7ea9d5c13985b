"""How a rule about a job's numbers says what it found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from iacgen.diagnostics import Diagnostic, Related

if TYPE_CHECKING:
    from iacgen.training.spec import JobSpec

Rule = Callable[["JobSpec"], Iterator[Diagnostic]]


def error(spec: JobSpec, number: int, slug: str, message: str, path: tuple[str, ...], help: str, *related: tuple[tuple[str, ...], str]) -> Diagnostic:
    """An error at ``path`` below the job, with notes at other places of it."""
    notes = tuple(Related(spec.at(*where), note) for where, note in related)
    return Diagnostic(f"IAC{number}", slug, "error", message, spec.at(*path), notes, help)
