"""Values of a stranger's JSON or YAML by type: what has another than wanted is told once and taken as absent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..diagnostics import Diagnostic
from .found import finding, short

_MOST = 100  # findings told one by one; each is an error, so that none of what follows is used


class Fields:
    """The wrong values of one file, as they are met."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.findings: list[Diagnostic] = []

    def complain(self, slug: str, words: str, line: int = 1) -> None:
        """Note a finding at a line of the file."""
        if len(self.findings) < _MOST:
            self.findings.append(finding(slug, words, self.file, line))

    def wrong(self, where: str, words: str) -> None:
        """Note that something at ``where`` is not of the form."""
        self.complain("topology-out-of-form", f"{where}: {words}")

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
