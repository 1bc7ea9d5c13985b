"""A YAML file that has been read: its data, and where each part stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Span:
    """A stretch of one line; all numbers count from 1, ``end`` is exclusive."""

    line: int
    column: int
    end: int


@dataclass(frozen=True)
class Document:
    """``data`` holds dicts, lists and scalars; ``values`` and ``keys`` give the span of the value, or of the key, at a path."""

    name: str
    text: str
    data: Any = None
    values: Mapping[Path, Span] = field(default_factory=dict)
    keys: Mapping[Path, Span] = field(default_factory=dict)

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
        return Span(1, 1, 2)
