"""YAML that has been read: its data, and where each part stands, in one file or in several laid over each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..diagnostics import Diagnostic, Span, lines

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Document:
    """``data`` holds dicts, lists and scalars; ``values`` and ``keys`` give the span of the value, or of the key, at a path.

    ``name`` and ``text`` are those of the first file; ``others`` holds what was laid over it: name → text. ``routes`` tells of a value that
    came in through a merge or an alias the path under which the place of that merge or alias is kept; ``unread`` are the paths at
    which nothing could be read, and of which a finding speaks already; ``shadowed`` are the places of keys that stand in several files,
    in those files where ``keys`` does not have them.
    """

    name: str
    text: str
    data: Any = None
    values: Mapping[Path, Span] = field(default_factory=dict)
    keys: Mapping[Path, Span] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)
    routes: Mapping[Path, Path] = field(default_factory=dict)
    unread: frozenset[Path] = frozenset()
    shadowed: tuple[tuple[Path, Span], ...] = ()

    def span(self, path: Path, on_key: bool = False) -> Span:
        """Where ``path`` stands: itself, or its nearest ancestor that the user did write."""
        if on_key and path in self.keys:
            return self.keys[path]
        for length in range(len(path), -1, -1):
            head = path[:length]
            if length < len(path) and head in self.keys:
                return self.keys[head]
            if head in self.values:
                return self.values[head]
        return Span(1, 1, 2, self.name)

    def place(self, finding: Diagnostic) -> Span:
        """Where a finding stands; its ``name`` says in which text."""
        return finding.at or self.span(finding.path, finding.on_key)

    def written(self, path: Path) -> str:
        """The scalar at ``path`` as it stands in the file; of one that takes several lines the first."""
        span = self.values.get(path)
        return lines(self.text_of(span))[span.line - 1][span.column - 1 : span.end - 1] if span else ""

    def text_of(self, span: Span) -> str:
        """The whole text that ``span`` lies in."""
        return self.others.get(span.name, self.text)
