"""What a check is: one finding that it can make, with a stable id, a slug, a severity and the page that explains it.

A check is a module below ``checks/<stage>/`` with one function under ``@rule``. The module's docstring is the page that
``iacgen explain`` prints: a sentence, then Why, Bad, Good and Source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from ..diagnostics import Diagnostic, Related, Severity
from ..diagnostics.bounded import bounded

Path = tuple[str | int, ...]
Profile = Literal["lab", "production"]


@dataclass(frozen=True)
class Found:
    """What a check found: the words and the place, without what the rule already says."""

    message: str
    path: Path
    related: tuple[Related, ...] = ()
    help: str | None = None
    on_key: bool = False


@dataclass(frozen=True)
class Rule:
    """One check. ``lab`` is the severity in the profile of that name, ``None`` where the check is not for labs.

    ``allowable``: an error about a wish that gives sound files, which the file may keep with its reason.
    """

    id: str
    slug: str
    severity: Severity
    lab: Severity | None
    function: Callable[[Any], Iterator[Found]]
    allowable: bool = False

    def run(self, subject: Any, profile: Profile = "production") -> list[Diagnostic]:
        """The findings about ``subject``, in the order in which they were made; of very many the first ones."""
        severity = self.lab if profile == "lab" else self.severity
        if severity is None:
            return []
        return bounded(Diagnostic(self.id, self.slug, severity, f.message, f.path, f.related, f.help, f.on_key, allowable=self.allowable) for f in self.function(subject))


def rule(
    id: str, slug: str, severity: Severity = "error", lab: Severity | None | Literal["same"] = "same", allowable: bool = False
) -> Callable[[Callable[[Any], Iterator[Found]]], Rule]:
    """Make a function the check ``id``; ``lab`` is its severity in the lab profile, ``allowable`` that of ``Rule``."""

    def make(function: Callable[[Any], Iterator[Found]]) -> Rule:
        return Rule(id, slug, severity, severity if lab == "same" else lab, function, allowable)

    return make
