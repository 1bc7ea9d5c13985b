"""NVIDIA UFM's REST API: links, with the systems and ports that they name.

``GET /ufmRest/resources/links`` is needed; ``/resources/systems`` says which ends are switches and ``/resources/ports`` how fast a link is.
The answers may stand behind each other in one file, in any order, or in one object under ``links``, ``systems`` and ``ports``.

Source: NVIDIA UFM Enterprise REST API Guide, Links, Systems and Ports REST API.
"""

from __future__ import annotations

import math
import re
from typing import Any

from ..fields import Fields
from ..wiring import Vertex, Wiring
from .infiniband import Adapters, rate_Bps

_KEYS = ("links", "systems", "ports")
_NUMBER = re.compile(r"\d+")
_PORT = re.compile(r":\d+(?:/\d+)*\Z")
_WORD = re.compile(r"\s")


def parts(values: list[Any]) -> dict[str, list[Any]]:
    """Links, systems and ports by what their objects look like."""
    out: dict[str, list[Any]] = {key: [] for key in _KEYS}
    for value in values:
        if isinstance(value, dict) and "source_guid" not in value:
            for key in _KEYS:
                out[key] += value[key] if isinstance(value.get(key), list) else []
            continue
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                out["links" if "source_guid" in item else "systems" if "system_guid" in item else "ports"].append(item)
            else:
                out["links"].append(item)
    return out


def is_so(values: list[Any]) -> bool:
    """Whether links of UFM are among them."""
    return any(isinstance(link, dict) and "source_guid" in link and "destination_guid" in link for link in parts(values)["links"])


def read(values: list[Any], fields: Fields, wiring: Wiring) -> None:
    """Each link once, by the GUIDs and ports of its ends."""
    told = parts(values)
    switches = {guid for where, item in fields.each(told["systems"], "systems") if item.get("type") == "switch" for key in ("guid", "system_guid") if (guid := fields.text(item, key, where))}
    known = {guid for where, item in fields.each(told["systems"], "systems") for key in ("guid", "system_guid") if (guid := fields.text(item, key, where))}
    names = {guid: name for where, item in fields.each(told["systems"], "systems") if (guid := fields.text(item, "guid", where)) and (name := fields.text(item, "system_name", where))}
    rates = _rates(told["ports"], fields)
    adapters = Adapters(wiring)
    seen = set()
    for where, link in fields.each(told["links"], "links"):
        ends = [_end(fields, link, side, where) for side in ("source", "destination")]
        if None in ends:
            continue
        key = tuple(sorted(f"{end[0]}_{end[1]}" for end in ends if end))
        if key in seen:
            continue
        seen.add(key)
        vertices = [_vertex(wiring, adapters, end, switches, known, names) for end in ends if end]
        if vertices[0] and vertices[1]:
            wiring.cable(vertices[0], vertices[1], min(rates.get(name, math.inf) for name in key))
    for where, item in fields.each(told["systems"], "systems"):
        if item.get("type") == "host" and (name := fields.text(item, "system_name", where)):
            wiring.host(name)  # without a link it is adrift


_End = tuple[str, str, str, str]  # GUID, port number, its displayed name, node description


def _end(fields: Fields, link: dict[str, Any], side: str, where: str) -> _End | None:
    guid, port = fields.text(link, f"{side}_guid", where), fields.text(link, f"{side}_port", where)
    if guid is None or port is None:
        fields.wrong(where, f"{side}_guid and {side}_port are wanted")
        return None
    return guid, port, fields.text(link, f"{side}_port_dname", where) or port, fields.text(link, f"{side}_port_node_description", where) or ""


def _vertex(wiring: Wiring, adapters: Adapters, end: _End, switches: set[str], known: set[str], names: dict[str, str]) -> Vertex | None:
    """The switch or host at an end. Where no system tells, a port that is displayed as a bare number is a switch's: an adapter's is HCA-1/1."""
    guid, port, displayed, description = end
    if guid in switches or (guid not in known and _NUMBER.fullmatch(displayed) and not _WORD.search(description.strip())):
        return wiring.switch(guid, names.get(guid) or _PORT.sub("", description) or None)
    return adapters.host(guid, description or names.get(guid, ""))


def _rates(ports: list[Any], fields: Fields) -> dict[str, float]:
    """Port, as ``GUID_number`` → bytes per second, for those that are up."""
    out = {}
    for where, port in fields.each(ports, "ports"):
        name, width, speed = (fields.text(port, key, where) for key in ("name", "active_width", "active_speed"))
        if name and width and speed:
            out[name] = rate_Bps(width, speed)
    return out
