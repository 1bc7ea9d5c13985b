"""Values of a stranger's JSON or YAML by type: what has another than wanted is told once and taken as absent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..diagnostics import Diagnostic
from .found import counted, finding, short, some

_MOST = 10  # findings of one kind that are told one by one


class Fields:
    """The wrong values of one file, as they are met."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.findings: list[Diagnostic] = []
        self._told: dict[str, int] = {}
        self._rest: dict[str, int] = {}

    def complain(self, slug: str, words: str, line: int = 1) -> None:
        """Note a finding at a line of the file; after the first few of a kind, how many more there are."""
        count = self._told[slug] = self._told.get(slug, 0) + 1
        if count <= _MOST + 1:
            self.findings.append(finding(slug, words, self.file, line))
            self._rest[slug] = len(self.findings) - 1
        else:
            at = self._rest[slug]
            self.findings[at] = replace(self.findings[at], message=f"{count - _MOST:,} more like the ones before, from here on")

    def wrong(self, where: str, words: str) -> None:
        """Note that something at ``where`` is not of the form."""
        self.complain("topology-out-of-form", f"{where}: {words}")

    def unfinished(self, pages: Sequence[Any], token: str, unheard: Sequence[str] = ()) -> None:
        """Note where every page says by its ``token`` that another follows; ``unheard``: hosts that are known by name and stand on none of them."""
        if not pages or not all(isinstance(page, dict) and page.get(token) for page in pages):
            return
        lacking = f"; {counted(len(unheard), 'host that has a name is', 'hosts that have names are')} not on it: {some(unheard)}" if unheard else ""
        words = f"{token} says that another page follows, and it is not in this file{lacking}"
        self.findings.append(finding("host-without-place", words, self.file, help="ask for all pages, or give the others as files of their own or in this one"))

    def text(self, owner: Any, key: str, where: str) -> str | None:
        """A text, or a whole number as text; None where it is absent, null or empty."""
        value = owner.get(key) if isinstance(owner, dict) else None
        if value is None or value == "":
            return None
        if isinstance(value, bool) or not isinstance(value, str | int):
            self.wrong(f"{where}.{key}", f"a text is wanted, not {_said(value)}")
            return None
        return str(value)[:1024]

    def map(self, owner: Any, key: str, where: str) -> dict[str, Any]:
        """An object; empty where it is absent or null."""
        value = owner.get(key) if isinstance(owner, dict) else None
        if value is not None and not isinstance(value, dict):
            self.wrong(f"{where}.{key}", f"an object is wanted, not {_said(value)}")
        return value if isinstance(value, dict) else {}

    def list(self, owner: Any, key: str, where: str) -> list[Any]:
        """A list; empty where it is absent or null."""
        value = owner.get(key) if isinstance(owner, dict) else None
        if value is not None and not isinstance(value, list):
            self.wrong(f"{where}.{key}", f"a list is wanted, not {_said(value)}")
        return value if isinstance(value, list) else []

    def texts(self, owner: Any, key: str, where: str) -> list[str]:
        """A list of texts; items that are none are left out."""
        out = []
        for i, item in enumerate(self.list(owner, key, where)):
            if isinstance(item, str) and item:
                out.append(item[:1024])
            else:
                self.wrong(f"{where}.{key}[{i}]", f"a text is wanted, not {_said(item)}")
        return out

    def each(self, items: Any, where: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """(its place, object) of a list of objects."""
        for i, item in enumerate(items):
            if isinstance(item, dict):
                yield f"{where}[{i}]", item
            else:
                self.wrong(f"{where}[{i}]", f"an object is wanted, not {_said(item)}")


def _said(value: object) -> str:
    kinds = {dict: "an object", list: "a list", bool: "true or false", type(None): "nothing"}
    return kinds.get(type(value)) or f"{short(repr(value), 40)}"
