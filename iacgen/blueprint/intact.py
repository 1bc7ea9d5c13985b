"""What is left of a blueprint with mistakes: its entries that have none, so that they can be judged in the same run."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from ..diagnostics import Diagnostic
from .cluster import Blueprint
from .mistakes import at
from .parse import parse

MAPS = ("sites", "nodes", "fabrics", "storage", "training")
_ROOT = {"kind": "Cluster", "schema": 1, "name": "unnamed"}


def intact(data: Any, findings: Iterable[Diagnostic]) -> tuple[Blueprint | None, frozenset[str]]:
    """The blueprint without the entries that ``findings`` blame, and the names of those; None where too little is left."""
    if not isinstance(data, dict):
        return None, frozenset()
    rest, gone = copy.deepcopy(data), set()
    for path, unknown in {(f.path, f.slug == "unknown-key") for f in findings}:
        if unknown and isinstance(holder := at(rest, path[:-1]), dict):  # without it the entry says what it says
            holder.pop(path[-1], None)
            continue
        section = path[0] if path else None
        if section in MAPS and len(path) > 1 and isinstance(rest.get(section), dict):
            rest[section].pop(path[1], None)
            gone.add(str(path[1]))
        elif section is not None:
            rest.pop(section, None)
    blueprint, left = parse({**_ROOT, **rest})
    return (None if left else blueprint), frozenset(gone)
