"""One document laid over another: the upper one wins, and every value remembers the file that it stands in.

* Two mappings merge key by key, at any depth, unless both have a ``kind`` and it differs: then the upper one replaces the lower.
* A scalar replaces whatever was there. A list replaces the list below, or is appended to it where the field's rule says so.
* ``null`` takes away what the lower documents say at this key.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..diagnostics import Span
from .document import Document, Path
from .walk import ALIAS, MERGE

Rule = Callable[[Path], str]


def lay(lower: Document, upper: Document, rule: Rule) -> Document:
    """``upper`` over ``lower``. ``rule`` gives "replace" or "append" for the list at a path."""
    merged = _Merged(lower, upper, rule)
    data = merged.both(lower.data, upper.data, ())
    texts = {**lower.others, upper.name: upper.text, **upper.others}
    return Document(lower.name, lower.text, data, merged.values, merged.keys, texts, merged.routes, frozenset(merged.unread), tuple(merged.shadowed))


class _Merged:
    """The positions of the merged data, gathered while it is built."""

    def __init__(self, lower: Document, upper: Document, rule: Rule) -> None:
        self.lower, self.upper, self.rule = lower, upper, rule
        self.values: dict[Path, Span] = {}
        self.keys: dict[Path, Span] = {}
        self.routes: dict[Path, Path] = {}
        self.shadowed: list[tuple[Path, Span]] = [*lower.shadowed, *upper.shadowed]
        self.unread: set[Path] = set()

    def both(self, lower: Any, upper: Any, path: Path, low: Path | None = None, up: Path | None = None) -> Any:
        """What stands at ``path``, where both documents say something. ``low`` and ``up`` are the alias or merge that let in what is
        around it in each of them."""
        if isinstance(lower, dict) and isinstance(upper, dict) and not _other_kind(lower, upper, path):
            self.note(self.lower, path, path)
            low, up = self.routes.pop(path, low), self.route(self.upper, path, path) or up
            self.shadow(self.upper, path)
            out = {}
            for key in (*lower, *(k for k in upper if k not in lower)):
                here = (*path, key)
                if key not in upper:
                    out[key] = self.take(self.lower, lower[key], here, here, low)
                elif key not in lower:
                    out[key] = self.take(self.upper, upper[key], here, here, up)
                elif upper[key] is None and here not in self.upper.unread:
                    self.note(self.upper, here, here)
                else:
                    out[key] = self.both(lower[key], upper[key], here, low, up)
            return out
        if isinstance(lower, list) and isinstance(upper, list) and self.rule(path) == "append":
            self.note(self.upper, path, path)
            low, up = self.route(self.lower, path, path) or low, self.routes.pop(path, up)
            self.shadow(self.lower, path)
            below = [self.take(self.lower, item, (*path, i), (*path, i), low) for i, item in enumerate(lower)]
            return below + [self.take(self.upper, item, (*path, i), (*path, len(lower) + i), up) for i, item in enumerate(upper)]
        return self.take(self.upper, upper, path, path, up)

    def take(self, document: Document, data: Any, path: Path, to: Path, through: Path | None = None) -> Any:
        """A part of one document as it is; it stood at ``path`` there and stands at ``to`` here, let in at ``through``."""
        self.note(document, path, to)
        if through:
            self.routes.setdefault(to, through)
        parts = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
        for step, value in parts:
            self.take(document, value, (*path, step), (*to, step))
        return data

    def note(self, document: Document, path: Path, to: Path) -> None:
        for step in ((), (MERGE,), (ALIAS,)):
            for theirs, ours in ((document.values, self.values), (document.keys, self.keys)):
                if (*path, *step) in theirs:
                    ours[*to, *step] = theirs[*path, *step]
        if route := self.route(document, path, to):
            self.routes[to] = route
        if path in document.unread:
            self.unread.add(to)

    def route(self, document: Document, path: Path, to: Path) -> Path | None:
        """Where the alias or merge is kept that lets in what stands at ``path``; beside the one of another document, if need be."""
        route = document.routes.get(path)
        if route is None:
            return None
        moved = (*to[: len(route) - 1], route[-1]) if len(route) <= len(path) + 1 else (*to, *route[len(path) :])
        for theirs, ours in ((document.values, self.values), (document.keys, self.keys)):
            if span := theirs.get(route):
                moved = moved if ours.get(moved, span) == span else (*moved[:-1], span.name, moved[-1])
                ours[moved] = span
        return moved

    def shadow(self, document: Document, path: Path) -> None:
        """Remember where a document has the key that the other one's stands for here."""
        if path in document.keys:
            self.shadowed.append((path, document.keys[path]))


def _other_kind(lower: dict[str, Any], upper: dict[str, Any], path: Path) -> bool:
    return bool(path) and "kind" in lower and "kind" in upper and lower["kind"] != upper["kind"]
