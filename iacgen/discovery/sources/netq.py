"""NVIDIA NetQ: its topology graph, its LLDP sessions, and the NVLink domains of its compute nodes.

Read are the answer to ``telemetry/v1/object/topologygraph/fetch-topology`` (nodes by tier, links between them), the records of ``netq show
lldp json`` (hostname, ifname, and the peer's), and ``nmx/v1/compute-nodes`` (Name, DomainUUID) behind one of the two. None tells a speed.

Source: NVIDIA NetQ user guide, topology and LLDP; NVIDIA/topograph, documentation of its NetQ provider.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...diagnostics.printable import printable
from ..fields import Fields
from ..wiring import Vertex, Wiring

_SWITCH_PORT = re.compile(r"swp\d+(?:s\d+)?|Ethernet\d+(?:/\d+)*", re.IGNORECASE)
_OUT_OF_BAND = re.compile(r"eth0|mgmt\d*|oob\d*", re.IGNORECASE)


def _items(values: list[Any]) -> list[Any]:
    return [item for value in values for item in (value if isinstance(value, list) else value["lldp"] if isinstance(value, dict) and isinstance(value.get("lldp"), list) else [value])]


def _low(item: dict[str, Any]) -> dict[str, Any]:
    """The record with its keys in one spelling: peer_hostname, peerHostname and "Peer Hostname" are one."""
    return {key.lower().replace("_", "").replace(" ", ""): value for key, value in item.items()}


def is_so(values: list[Any]) -> bool:
    """Whether this is a topology graph or are LLDP records of NetQ."""
    items = [item for item in _items(values) if isinstance(item, dict)]
    return any((isinstance(i.get("nodes"), list) and isinstance(i.get("links"), list)) or "peerhostname" in _low(i) for i in items)


def read(values: list[Any], fields: Fields, wiring: Wiring) -> None:
    """Graphs, LLDP records and compute nodes, whichever are there."""
    records = []
    for where, item in fields.each(_items(values), "answer"):
        if "DomainUUID" in item:
            host, domain = fields.text(item, "Name", where), fields.text(item, "DomainUUID", where)
            if host and domain and wiring.host(host):
                wiring.domains[wiring.names.get(host, host)] = printable(domain)[:255]
        elif "nodes" in item:
            _graph(item, fields, wiring, where)
        else:
            records.append((where, _low(item)))
    _sessions(records, fields, wiring)


def _graph(graph: dict[str, Any], fields: Fields, wiring: Wiring, where: str) -> None:
    """Tier -1 are hosts; a link names its ends by id, with one entry for each cable."""
    vertices: dict[str, Vertex | None] = {}
    for place, tier in fields.each(fields.list(graph, "nodes", where), f"{where}.nodes"):
        for at, node in fields.each(fields.list(tier, "compounded_nodes", place), f"{place}.compounded_nodes"):
            id, name = fields.text(node, "id", at), fields.text(node, "name", at)
            if id is None or isinstance(node.get("tier"), bool) or not isinstance(node.get("tier"), int):
                fields.wrong(at, "id and a whole number as tier are wanted")
                continue
            vertices[id] = wiring.host(name or id) if node["tier"] < 0 else wiring.switch(id, name)
    for place, link in fields.each(fields.list(graph, "links", where), f"{where}.links"):
        ends = [fields.text(end, "node", at) for at, end in fields.each(fields.list(link, "interfaces", place), f"{place}.interfaces")]
        if len(ends) != 2 or None in ends:
            ends = list((fields.text(link, "id", place) or "").split("-*-"))
        a, b = (vertices.get(end or "") for end in ends) if len(ends) == 2 else (None, None)
        if a and b:
            for _ in fields.list(link, "compounded_links", place)[:1024] or [None]:
                wiring.cable(a, b)


def _sessions(records: list[tuple[str, dict[str, Any]]], fields: Fields, wiring: Wiring) -> None:
    """Cables out of LLDP. A device with a switch's ports is a switch; one that switches reach by their management port is none of the fabric."""
    cables = {tuple(sorted(cable)) for cable in _cables(records, fields)}
    switches = {device for cable in cables for device, port in cable if _SWITCH_PORT.fullmatch(port)}
    outside = {other for cable in cables for (device, port), (other, _) in (cable, cable[::-1]) if device in switches and _OUT_OF_BAND.fullmatch(port)}
    for cable in sorted(cables):
        if not any(device in outside or (device in switches and _OUT_OF_BAND.fullmatch(port)) for device, port in cable):
            a, b = (wiring.switch(device) if device in switches else wiring.host(device) for device, _ in cable)
            if a and b:
                wiring.cable(a, b)


def _cables(records: list[tuple[str, dict[str, Any]]], fields: Fields) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    for where, record in records:
        device, port = fields.text(record, "hostname", where), fields.text(record, "ifname", where) or fields.text(record, "interface", where)
        other, far = fields.text(record, "peerhostname", where), fields.text(record, "peerifname", where) or fields.text(record, "peerinterface", where)
        if device and port and other and far:
            yield (device, port), (other, far)
        else:
            fields.wrong(where, "hostname, ifname, and those of the peer are wanted")
