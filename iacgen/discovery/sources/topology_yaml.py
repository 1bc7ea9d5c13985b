"""Slurm's topology.yaml (25.05 and later): a list of topologies, each a tree, blocks, or flat.

Source: Slurm documentation, topology.yaml(5): hostlists are texts, block sizes a list of whole numbers, exactly one kind in an entry.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..fields import Fields
from ..found import finding
from ..wiring import Wiring
from .slurm import Lists, Unit, block, tree

_KINDS = ("tree", "block", "flat", "ring", "torus3d")


def is_so(data: Any) -> bool:
    """Whether this is a list of topologies."""
    return isinstance(data, list) and any(isinstance(item, dict) and "topology" in item for item in data)


def read(data: Any, fields: Fields, file: str, names: dict[str, str]) -> Iterator[Wiring]:
    """A wiring for each tree and each set of blocks, in their order."""
    seen: set[str] = set()
    if not isinstance(data, list):
        fields.wrong("file", "a list of topologies is wanted")
    for where, item in fields.each(data if isinstance(data, list) else [], "topologies"):
        name = fields.text(item, "topology", where)
        kinds = [kind for kind in _KINDS if kind in item]
        if name is None or len(kinds) != 1:
            fields.wrong(where, "a name as topology and one of tree, block and flat are wanted")
            continue
        if name in seen:
            fields.wrong(where, f"the topology {name!r} is there a second time")
        seen.add(name)
        if kinds[0] in ("tree", "block"):
            yield _one(fields.map(item, kinds[0], where), kinds[0], fields, Wiring(name, file, names), f"{where}.{kinds[0]}")
        else:
            fields.findings.append(finding("switches-not-told", f"the topology {name!r} is {kinds[0]}: it tells no switches", file))


def _one(body: dict[str, Any], kind: str, fields: Fields, wiring: Wiring, where: str) -> Wiring:
    def complain(slug: str, words: str, line: int) -> None:
        fields.complain(slug, f"{wiring.name}: {words}")

    key, list_ = ("switch", "switches") if kind == "tree" else ("block", "blocks")
    units, lists = [], Lists(complain)
    for at, item in fields.each(fields.list(body, list_, where), f"{where}.{list_}"):
        name = fields.text(item, key, at)
        if name is None:
            fields.wrong(at, f"{key} is wanted")
            continue
        children, nodes = (lists.names(fields.text(item, word, at) or "", 1) for word in ("children", "nodes"))
        units.append(Unit(name, 1, children, nodes))
    (tree if kind == "tree" else block)(units, wiring, complain)
    return wiring
