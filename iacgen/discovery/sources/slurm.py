"""Slurm's topology.conf, for topology/tree and topology/block, and what ``scontrol show topology`` prints of it.

Source: Slurm documentation, topology.conf(5). Measured on slurmctld 22.05, 24.11 and 26.05: a node in two leaves and a switch with two
parents start with a warning or without a word, so both are refused here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ...diagnostics import Diagnostic
from ..fields import Fields
from ..found import short
from ..wiring import MOST_HOSTS, Vertex, Wiring

LOOKS = re.compile(r"^[ \t]*(?:SwitchName|BlockName)[ \t]*=", re.MULTILINE | re.IGNORECASE)
_KEYS = {"switchname", "switches", "nodes", "linkspeed", "level", "blockname", "blocksizes", "blockindex", "blocksize", "aggregatedblock"}
_GUID = re.compile(r"0x[0-9a-f]+", re.IGNORECASE)
_TERM = re.compile(r"(?:[^,\[\]]|\[[^\]]*\]?|\])+")  # what stands between commas outside of brackets
_RANGE = re.compile(r"(\d{1,15})-(\d{1,15})", re.ASCII)
Complain = Callable[..., None]


@dataclass
class Unit:
    """A switch with children or nodes, or a block with nodes, as hostlists; ``line`` is where it stands."""

    name: str
    line: int
    children: list[str] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)


def read(text: str, wiring: Wiring) -> list[Diagnostic]:
    """Fill the wiring from topology.conf; what is wrong with the file."""
    fields = Fields(wiring.file)
    complain = fields.complain
    switches, blocks, lists = [], [], Lists(complain)
    for number, pairs in _lines(text, complain):
        name = pairs.get("switchname") or pairs.get("blockname")
        if name is None:
            if not pairs.keys() & {"blocksizes", "aggregatedblock"}:
                complain("topology-out-of-form", "a line begins with SwitchName=, BlockName= or BlockSizes=", number)
            continue
        printed = pairs.get("level", "0") != "0"  # scontrol lists the nodes of a parent too
        unit = Unit(name, number, lists.names(pairs.get("switches", ""), number), [] if printed else lists.names(pairs.get("nodes", ""), number))
        (switches if "switchname" in pairs else blocks).append(unit)
    if switches and blocks:
        complain("switches-at-odds", "switches and blocks stand in one file; Slurm takes one kind", blocks[0].line)
    tree(switches, wiring, complain)
    block(blocks, wiring, complain)
    return fields.findings


def _lines(text: str, complain: Complain) -> Iterator[tuple[int, dict[str, str]]]:
    """(number of its first line, key in lower case → value) of each logical line."""
    begun, said = 0, []
    for number, line in enumerate((*text.splitlines(), ""), 1):
        begun = begun or number
        if line.rstrip().endswith("\\") and "#" not in line:
            said.append(line.rstrip()[:-1])
            continue
        said.append(line.partition("#")[0])
        pairs: dict[str, str] = {}
        for word in "".join(said).split():
            key, equals, value = word.partition("=")
            if not equals or key.lower() not in _KEYS:
                complain("topology-out-of-form", f"{short(word, 40)!r} is none of Slurm's keys with '=' and a value", begun)
            elif key.lower() in pairs:
                complain("topology-out-of-form", f"{short(key, 40)} stands twice in one line", begun)
            else:
                pairs[key.lower()] = value
        if pairs:
            yield begun, pairs
        begun, said = 0, []


class Lists:
    """The hostlists of one file, with a bound on what they name together."""

    def __init__(self, complain: Complain) -> None:
        self.complain = complain
        self.room = 2 * MOST_HOSTS

    def names(self, hostlist: str, line: int) -> list[str]:
        """The names of a hostlist; none, and a complaint, where it is no hostlist or the file names too much."""
        from ...render.hostlist import InvalidHostlist, expand

        out: list[str] = []
        for term in _TERM.findall(hostlist):
            if sum(max(0, int(high) - int(low)) for low, high in _RANGE.findall(term)) <= self.room:
                try:
                    out += expand(term)
                except InvalidHostlist as error:
                    self.complain("topology-out-of-form", short(str(error), 200), line)
                    return []
            if len(out) > self.room or not out:
                self.room = -1
                self.complain("topology-out-of-form", f"more than {2 * MOST_HOSTS:,} names in lists", line)
                return []
        self.room -= len(out)
        return out


def tree(units: Sequence[Unit], wiring: Wiring, complain: Complain) -> None:
    """Switches and their children. Where names are given for GUIDs, the adapters of one host may lie under several leaves: rails."""
    defined = {unit.name: unit for unit in reversed(units)}
    placed: dict[str, Unit] = {}
    below: dict[str, Unit] = {}
    for unit in units:
        if "[" in unit.name:
            complain("topology-out-of-form", f"a switch is called {short(unit.name)}: Slurm takes the brackets as a part of the name", unit.line)
        if defined[unit.name] is not unit:
            complain("switches-at-odds", f"switch {short(unit.name)} is defined a second time (first in line {defined[unit.name].line})", unit.line)
        if unit.nodes and unit.children:
            complain("switches-at-odds", f"switch {short(unit.name)} has nodes and switches", unit.line)
        here = wiring.switch(unit.name, unit.name)
        for child in unit.children:
            if child not in defined:
                complain("switches-at-odds", f"switch {short(unit.name)} has a child {short(child)} that is not defined", unit.line)
            elif below.setdefault(child, unit) is not unit:
                complain("switches-at-odds", f"switch {short(child)} lies under {short(below[child].name)} and {short(unit.name)}", unit.line)
            wiring.up(wiring.switch(child), here)
        hang(unit, here, wiring, placed, complain)


def hang(unit: Unit, switch: Vertex, wiring: Wiring, placed: dict[str, Unit], complain: Complain) -> None:
    """The nodes of a unit onto its switch, each in one place."""
    for node in unit.nodes:
        first = placed.setdefault(node, unit)
        if first is not unit:
            complain("host-in-two-places", f"{short(node)} is in {short(first.name)} (line {first.line}) and in {short(unit.name)}", unit.line)
            continue
        host = wiring.host(node)
        if host is None:
            continue
        if wiring.graph.out_degree(host) and not (_GUID.fullmatch(node) and node in wiring.names):
            complain("host-in-two-places", f"{short(node)} and another node have the one name {short(host.id)}", unit.line)
            continue
        wiring.up(host, switch)


def block(units: Sequence[Unit], wiring: Wiring, complain: Complain) -> None:
    """Blocks are NVLink domains, and whatever network is between them joins them all."""
    defined: dict[str, Unit] = {}
    placed: dict[str, Unit] = {}
    top = wiring.switch(f"{wiring.name} of blocks", f"{wiring.name}-top") if len(units) > 1 else None
    for unit in units:
        if defined.setdefault(unit.name, unit) is not unit:
            complain("switches-at-odds", f"block {short(unit.name)} is defined a second time (first in line {defined[unit.name].line})", unit.line)
        here = wiring.switch(f"block {unit.name}", unit.name)
        if top:
            wiring.up(here, top)
        hang(unit, here, wiring, placed, complain)
        for node in unit.nodes:
            wiring.domains.setdefault(wiring.names.get(node, node), unit.name)
    wiring.words = ("block", "top")[: 1 + bool(top)] if units else wiring.words
