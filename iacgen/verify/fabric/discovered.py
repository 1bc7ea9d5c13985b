"""The wiring that ibnetdiscover found, and how it differs from the cable list."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from .plan import Link

_NODE = re.compile(r'^(Switch|Ca)\s+(\d+)\s+"([SH]-[0-9a-f]+)"\s+#\s+"([^"]*)"')
_PORT = re.compile(r'^\[(\d+)\]\S*\s+"([SH]-[0-9a-f]+)"\[(\d+)\]')
_Record = tuple[str, int, str, int]


@dataclass(frozen=True)
class Wiring:
    """What answers in the fabric: ``switches`` with their ports, ``adapters``, and each link once, its lower end first."""

    switches: dict[str, int]
    adapters: tuple[str, ...]
    links: frozenset[_Record]
    guids: dict[str, int]


def parse(text: str) -> Wiring:
    """ibnetdiscover's answer. A name that two nodes share gets its GUID behind it, so that nothing is lost."""
    heads = [match for line in text.splitlines() if (match := _NODE.match(line))]
    names: dict[str, str] = {}
    for match in heads:
        taken = match[4] in names.values() or not match[4]
        names[match[3]] = f"{match[4]} {match[3]}".strip() if taken else match[4]
    links, here = set(), ""
    for line in text.splitlines():
        if match := _NODE.match(line):
            here = names[match[3]]
        elif (match := _PORT.match(line)) and match[2] in names:
            links.add(_sorted(here, int(match[1]), names[match[2]], int(match[3])))
    return Wiring(
        {names[m[3]]: int(m[2]) for m in heads if m[1] == "Switch"},
        tuple(names[m[3]] for m in heads if m[1] == "Ca"),
        frozenset(links),
        {name: int(node[2:], 16) for node, name in names.items()},
    )


def compare(planned: Iterable[Link], found: Wiring) -> tuple[list[_Record], list[_Record]]:
    """(links of the cable list that are not there, links that are there and not in it), each sorted."""
    wanted = {_sorted(*link) for link in planned}
    return sorted(wanted - found.links), sorted(found.links - wanted)


def words(record: _Record) -> str:
    """A link as people say it."""
    a, a_port, b, b_port = record
    return f"{a} port {a_port} to {b} port {b_port}"


def _sorted(a: str, a_port: int, b: str, b_port: int) -> _Record:
    return (a, a_port, b, b_port) if (a, a_port) <= (b, b_port) else (b, b_port, a, a_port)
