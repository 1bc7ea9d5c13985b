"""The models of NVIDIA's topograph: switches with their children, and blocks of nodes on a switch, with accelerator domains.

Two ages are read: switches as a map and ``blocks`` with annotations; switches as a list and ``capacity_blocks`` with ``nvlink``.

Source: NVIDIA/topograph, models package (Switch, CapacityBlock) and its documentation of the test provider.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..fields import Fields
from ..found import finding
from ..wiring import Vertex, Wiring
from .slurm import Unit, expanded, hang

_DOMAINS = ("accelerator.topology.test/domain", "accelerator.topograph.run/domain", "network.topology.nvidia.com/accelerator")


def is_so(data: Any) -> bool:
    """Whether this is a model."""
    return isinstance(data, dict) and isinstance(data.get("switches"), dict | list) and not data.keys() & {"kind", "links", "nodes"}


def read(data: dict[str, Any], fields: Fields, wiring: Wiring) -> None:
    """Switches upwards, then the nodes of each block onto its switch."""

    def complain(slug: str, words: str, line: int, help: str | None = None) -> None:
        fields.findings.append(finding(slug, words, wiring.file, help=help))

    parent: dict[str, str] = {}
    placed: dict[str, Unit] = {}
    for where, name, switch in _switches(data, fields):
        here = wiring.switch(name, name)
        for child in fields.texts(switch, "switches", where):
            if parent.setdefault(child, name) != name:
                complain("switches-at-odds", f"switch {child} lies under {parent[child]} and {name}", 1)
            wiring.up(wiring.switch(child, child), here)
        hang(Unit(name, 1, [], _nodes(switch, fields, where, complain)), here, wiring, placed, complain)
    alone = not len(wiring.graph)
    for key in ("blocks", "capacity_blocks"):
        for i, (where, block) in enumerate(fields.each(fields.list(data, key, "model"), key)):
            _block(block, i, where, fields, wiring, placed, complain, alone)


def _block(block: dict[str, Any], i: int, where: str, fields: Fields, wiring: Wiring, placed: dict[str, Unit], complain: Any, alone: bool) -> None:
    notes = fields.map(block, "annotations", where)
    domain = next(filter(None, (fields.text(notes, key, where) for key in _DOMAINS)), None) or fields.text(block, "nvlink", where)
    name = fields.text(block, "switch", where)
    nodes = _nodes(block, fields, where, complain)
    if name is not None and Vertex("switch", name) not in wiring.graph and not alone:
        complain("switches-at-odds", f"{where} lies on the switch {name}, which is not defined", 1)
    if name is not None:
        hang(Unit(name, 1, [], nodes), wiring.switch(name, name), wiring, placed, complain)
    for node in nodes:
        if name is None:
            wiring.host(node)
        if domain:
            wiring.domains[wiring.names.get(node, node)] = domain[:255]


def _switches(data: dict[str, Any], fields: Fields) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(where, name, switch) of either age."""
    switches = data["switches"]
    if isinstance(switches, list):
        for where, switch in fields.each(switches, "switches"):
            name = fields.text(switch, "name", where)
            if name:
                yield where, name, switch
            else:
                fields.wrong(where, "name is wanted")
        return
    for name, switch in switches.items():
        if isinstance(switch, dict):
            yield f"switches.{name}", str(name), switch
        else:
            fields.wrong(f"switches.{name}", "an object is wanted")


def _nodes(owner: dict[str, Any], fields: Fields, where: str, complain: Any) -> list[str]:
    return [name for text in fields.texts(owner, "nodes", where) for name in expanded(text, 1, complain)]
