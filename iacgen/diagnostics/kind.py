"""What is known of a kind of finding before one is found: its name, how bad it is, the page that explains it."""

from __future__ import annotations

from dataclasses import dataclass

from .model import Severity


@dataclass(frozen=True)
class Kind:
    """``production`` and ``lab`` are the severities that its findings can have in that profile; none where it is left out.

    ``about`` is one sentence, ``page`` what ``iacgen explain`` prints. ``allowable``: a comment may allow it although it is an error.
    """

    id: str
    slug: str
    production: frozenset[Severity]
    lab: frozenset[Severity]
    about: str
    page: str
    allowable: bool = False

    def under(self, profile: str) -> frozenset[Severity]:
        """The severities in one profile."""
        return self.lab if profile == "lab" else self.production

    @property
    def always_error(self) -> bool:
        """No profile makes less of it than an error that must be mended."""
        return not self.allowable and self.production == self.lab == {"error"}
