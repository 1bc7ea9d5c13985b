"""The words of a blueprint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .rule import Path


def words(section: Any, path: Path = ()) -> Iterator[tuple[str, Path, bool]]:
    """Every text of a section with its path, names of maps included; the last says that the name is meant."""
    if isinstance(section, str):
        yield section, path, False
    elif isinstance(section, dict):
        for name, inner in section.items():
            yield name, (*path, name), True
            yield from words(inner, (*path, name))
    elif isinstance(section, tuple):
        for i, inner in enumerate(section):
            yield from words(inner, (*path, i))
    elif hasattr(section, "model_fields_set"):
        for name, inner in section:
            yield from words(inner, (*path, name))
