"""The models of NVIDIA's topograph: switches with their children, and blocks of nodes on a switch, with accelerator domains.

Two ages are read: switches as a map and ``blocks`` with annotations; switches as a list and ``capacity_blocks`` with ``nvlink``.

Source: NVIDIA/topograph, models package (Switch, CapacityBlock) and its documentation of the test provider.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..fields import Fields
from ..wiring import Vertex, Wiring
from .slurm import Lists, Unit, hang

_DOMAINS = ("accelerator.topology.test/domain", "accelerator.topograph.run/domain", "network.topology.nvidia.com/accelerator")


def is_so(data: Any) -> bool:
    """Whether this is a model."""
    return isinstance(data, dict) and isinstance(data.get("switches"), dict | list) and not data.keys() & {"kind", "links", "nodes"}


def read(data: Any, fields: Fields, wiring: Wiring) -> None:
    """Switches upwards, then the nodes of each block onto its switch."""
    if not isinstance(data, dict):
        fields.wrong("file", "a model with switches and blocks is wanted")
        return
    parent: dict[str, str] = {}
    placed: dict[str, Unit] = {}
    lists = Lists(fields.complain)
    for where, name, switch in _switches(data, fields):
        here = wiring.switch(name, name)
        for child in fields.texts(switch, "switches", where):
            if parent.setdefault(child, name) != name:
                fields.complain("switches-at-odds", f"switch {child} lies under {parent[child]} and {name}")
            wiring.up(wiring.switch(child, child), here)
        hang(Unit(name, 1, [], _nodes(switch, fields, where, lists)), here, wiring, placed, fields.complain)
    alone = not len(wiring.graph)
    for key in ("blocks", "capacity_blocks"):
        for i, (where, block) in enumerate(fields.each(fields.list(data, key, "model"), key)):
            _block(block, i, where, fields, wiring, placed, lists, alone)


def _block(block: dict[str, Any], i: int, where: str, fields: Fields, wiring: Wiring, placed: dict[str, Unit], lists: Lists, alone: bool) -> None:
    notes = fields.map(block, "annotations", where)
    domain = next(filter(None, (fields.text(notes, key, where) for key in _DOMAINS)), None) or fields.text(block, "nvlink", where)
    name = fields.text(block, "switch", where)
    nodes = _nodes(block, fields, where, lists)
    if name is not None and Vertex("switch", name) not in wiring.graph and not alone:
        fields.complain("switches-at-odds", f"{where} lies on the switch {name}, which is not defined")
    if name is not None:
        hang(Unit(name, 1, [], nodes), wiring.switch(name, name), wiring, placed, fields.complain)
    for node in nodes:
        if name is None:
            wiring.host(node)
        if domain:
            wiring.domains[wiring.names.get(node, node)] = domain[:255]


def _switches(data: dict[str, Any], fields: Fields) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(where, name, switch) of either age."""
    switches = data.get("switches") or {}
    if isinstance(switches, list):
        for where, switch in fields.each(switches, "switches"):
            name = fields.text(switch, "name", where)
            if name:
                yield where, name, switch
            else:
                fields.wrong(where, "name is wanted")
        return
    for name, switch in switches.items() if isinstance(switches, dict) else ():
        if isinstance(switch, dict):
            yield f"switches.{name}", str(name), switch
        else:
            fields.wrong(f"switches.{name}", "an object is wanted")


def _nodes(owner: dict[str, Any], fields: Fields, where: str, lists: Lists) -> list[str]:
    return [name for text in fields.texts(owner, "nodes", where) for name in lists.names(text, 1)]
