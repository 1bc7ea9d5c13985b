"""The topology file that ``ibnetdiscover`` prints: a block for each switch and adapter, with a line for each port that is up.

Source: infiniband-diags, ibnetdiscover(8), topology file format. Names come from the node descriptions or from a node name map.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from ...diagnostics import Diagnostic
from ..fields import Fields
from ..found import counted
from ..wiring import Vertex, Wiring
from .infiniband import Adapters, rate_Bps

LOOKS = re.compile(r'^(?:Switch|Ca)\s+\d+\s+"[SH]-[0-9a-fA-F]+"', re.MULTILINE)
_NODE = re.compile(r'(Switch|Ca|Rt)\s+\d+\s+"([SHR]-[0-9a-fA-F]{1,16})"\s*#?\s*(?:"([^"]*)")?')
_PORT = re.compile(r'\[(\d+)\]\S*\s+"([SHR]-[0-9a-fA-F]{1,16})"\[(\d+)\]')
_RATE = re.compile(r"(\d+x)([A-Z]+\d*)\s*\Z")
_HEAD = re.compile(r"(?:\[\d|Switch\s+\d|Ca\s+\d|Rt\s+\d)")


class _Node(NamedTuple):
    switch: bool
    description: str


def read(text: str, wiring: Wiring) -> list[Diagnostic]:
    """Fill the wiring; what is wrong with the lines. A link stands on both of its ends and is counted once."""
    nodes: dict[str, _Node] = {}
    links: dict[tuple[str, str], float] = {}
    here = None
    strange, last = [], 1
    for last, line in enumerate(text.splitlines(), 1):
        if match := _NODE.match(line):
            here = match[2].lower()
            nodes.setdefault(here, _Node(match[1] != "Ca", match[3] or ""))
        elif (match := _PORT.match(line)) and here:
            ends = sorted((f"{here} {match[1]}", f"{match[2].lower()} {match[3]}"))
            rate = _RATE.search(line)
            links[ends[0], ends[1]] = rate_Bps(rate[1], rate[2]) if rate else links.get((ends[0], ends[1]), math.inf)
        elif _HEAD.match(line):
            strange.append(last)
    fields = Fields(wiring.file)
    for line in strange:
        fields.complain("topology-out-of-form", "this line is none of ibnetdiscover's", line)
    absent = {node for pair in links for node in (end.split()[0] for end in pair) if node not in nodes}
    if absent:
        words = f"{counted(len(absent), 'node', 'nodes')}, such as {min(absent)}, named by neighbours, without a block of their own: the file is cut short"
        fields.complain("topology-out-of-form", words, last)
    vertices = _vertices(nodes, wiring)
    for (near, far), Bps in sorted(links.items()):
        a, b = vertices.get(near.split()[0]), vertices.get(far.split()[0])
        if a and b:
            wiring.cable(a, b, Bps)
    return fields.findings


def _vertices(nodes: dict[str, _Node], wiring: Wiring) -> dict[str, Vertex | None]:
    """Node → its switch, or the host that it is an adapter of; None for what is no host or names none."""
    adapters = Adapters(wiring)
    return {id: wiring.switch(id, node.description or None) if node.switch else adapters.host(id.partition("-")[2], node.description) for id, node in sorted(nodes.items())}
