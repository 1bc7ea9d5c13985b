"""The wiring as a graph in DOT, which Cumulus switches hold against what LLDP tells them."""

from __future__ import annotations

from collections.abc import Iterator

from ...design.fabric.model import Fabric
from .wired import Wired

# NVIDIA UFM Cable Validation Tool, DOT file: what it calls the switches of each tier.
_ROLES = {"leaf": "leaf", "spine": "spine", "core": "super_spine"}


def topology(wired: Wired) -> str:
    """``topology.dot``: a node a switch with its role, an edge a link, the switch's end first where the other is a host's.

    Read by UFM's cable validation of Ethernet and by Cumulus Linux (Prescriptive Topology Manager, /etc/ptm.d/topology.dot).
    """
    return "\n".join(_lines(wired)) + "\n"


def speaks_dot(fabric: Fabric) -> bool:
    """Whether a reader of the file runs on every switch of the fabric."""
    return fabric.technology in ("roce", "ethernet") and fabric.os != "sonic" and all("cumulus" in tier.switch.software for tier in fabric.tiers)


def _lines(wired: Wired) -> Iterator[str]:
    yield "graph network {"
    for tier in wired.fabric.tiers:
        role = _ROLES[tier.kind]
        yield from (f'  {_quoted(name)} [label={_quoted(name)} role="{role}" os="cumulus"]' for name in tier.names)
    for w in wired.wires:
        near, far = f"{_quoted(w.a)}:{_quoted(w.a_port.name)}", f"{_quoted(w.b)}:{_quoted(w.b_port.name)}"
        yield f"  {far} -- {near}" if w.from_host else f"  {near} -- {far}"
    yield "}"


def _quoted(text: str) -> str:
    """A double-quoted string of DOT, in which only the quote itself needs an escape (Graphviz, the DOT language)."""
    return '"' + text.replace('"', '\\"') + '"'
