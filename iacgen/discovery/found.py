"""What a source of topology was found to say, and the findings about it: one id a slug."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..design.fabric.hierarchy import Hierarchy
from ..diagnostics import Diagnostic, Severity, Span
from ..diagnostics.printable import printable

_IDS = {
    "unknown-topology": "IAC450",
    "unreadable-topology": "IAC451",
    "topology-out-of-form": "IAC452",
    "host-without-place": "IAC453",
    "host-in-two-places": "IAC454",
    "host-name-twice": "IAC455",
    "switches-at-odds": "IAC456",
    "uneven-rails": "IAC457",
    "switches-not-told": "IAC458",
    "nameless-adapter": "IAC459",
}
_SEVERITIES: dict[str, Severity] = {
    "host-without-place": "warning",
    "host-name-twice": "warning",
    "uneven-rails": "warning",
    "switches-not-told": "warning",
    "nameless-adapter": "warning",
}


@dataclass(frozen=True)
class Found:
    """One file read. ``kind`` is None where nobody could say what it is.

    ``hierarchies``: one for each fabric that nothing joins to another; none where an error stands among the ``findings``, since half an
    answer is no answer. ``adrift``: hosts, and adapters without the name of their host, that the source names and gives no place.
    """

    kind: str | None
    hierarchies: tuple[Hierarchy, ...] = ()
    adrift: tuple[str, ...] = ()
    findings: tuple[Diagnostic, ...] = ()

    def missing(self, hosts: Iterable[str]) -> tuple[str, ...]:
        """Those of ``hosts``, in their order, that no hierarchy holds."""
        held = {host for hierarchy in self.hierarchies for host in hierarchy.hosts}
        return tuple(host for host in hosts if host not in held)


def finding(slug: str, message: str, file: str, line: int = 1, help: str | None = None, column: int = 1) -> Diagnostic:
    """A finding at a line of ``file``; errors unless the slug says otherwise."""
    return Diagnostic(_IDS[slug], slug, _SEVERITIES.get(slug, "error"), printable(message), help=help, at=Span(max(1, line), max(1, column), max(1, column) + 1, file))


def counted(count: int, one: str, many: str) -> str:
    """``1 host is``, ``2 hosts are``."""
    return f"{count:,} {one if count == 1 else many}"


def some(names: Iterable[str], most: int = 5) -> str:
    """A few names of many, in their order: ``gpu1, gpu2 and 30 more``; each no longer than a person reads."""
    listed = [short(name) for name in names]
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


def short(text: str, most: int = 80) -> str:
    """No more of an untrusted text than a person reads in a message."""
    return text if len(text) <= most else f"{text[:most]}…"
