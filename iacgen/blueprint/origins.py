"""Where each value of the effective blueprint comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..source import Document
from .language import Path


@dataclass(frozen=True)
class Leaf:
    """A scalar, or an empty section or list, and where it comes from: ``lab.yaml:14``, ``--set nodes.gpu.count=4``, default or catalog."""

    path: Path
    value: Any
    origin: str


def fill(data: Any, implied: Mapping[Path, tuple[Any, str]]) -> Any:
    """``data`` with what is implied at paths where it says nothing."""
    out = data
    for path, (value, _) in implied.items():
        out = _put(out, path, value)
    return out


def leaves(data: Any, document: Document, implied: Mapping[Path, tuple[Any, str]]) -> Iterator[Leaf]:
    """Every leaf of the effective blueprint ``data``, in its order."""
    for path, value in _leaves(data, ()):
        yield Leaf(path, value, _origin(path, document, implied))


def _put(data: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    inner = data.get(path[0], {}) if isinstance(data, dict) else {}
    return {**data, path[0]: _put(inner, path[1:], value)}


def _leaves(data: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(data, dict) and data:
        for key, value in data.items():
            yield from _leaves(value, (*path, key))
    elif isinstance(data, list) and data:
        for i, value in enumerate(data):
            yield from _leaves(value, (*path, i))
    else:
        yield path, data


def _origin(path: Path, document: Document, implied: Mapping[Path, tuple[Any, str]]) -> str:
    decided = next((implied[path[:n]][1] for n in range(len(path), 0, -1) if path[:n] in implied), None)
    span = document.values.get(path)
    if decided or span is None:
        return decided or "default"
    return span.name if span.name.startswith("--set ") else f"{span.name}:{span.line}"
