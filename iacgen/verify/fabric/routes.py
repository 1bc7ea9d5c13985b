"""The routes that opensm has set, read from its dump and walked for every ordered pair of adapters.

Forwarding goes by destination, so all adapters of a leaf share the path to a destination: walks are arrays over (leaf, destination).
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .discovered import Wiring

Ints = NDArray[np.int32]
Lanes = NDArray[np.int8]
_HEAD = re.compile(rb"^Unicast lids .*? guid 0x([0-9a-fA-F]+) ", re.MULTILINE)
_ENTRY = re.compile(rb"^0x[0-9a-fA-F]+ (\d+) # Channel Adapter portguid 0x([0-9a-fA-F]+):", re.MULTILINE)
NO_PORT = 255
_LONG = 16  # hops of more than any way in a tree or a dragonfly: what still moves then is looked at for circles
_CIRCLING = -2


@dataclass(frozen=True)
class Routes:
    """``channels`` names the directed links between switches by (switch, port). ``steps[h, l, d]`` is the channel that a packet from
    an adapter of leaf l to adapter d takes after h earlier ones, -1 behind its last. ``lost[l, d]``: it reaches no port at all;
    ``looping[l, d]``: it never ends. ``leaf[d]`` is the leaf of an adapter, as an index into ``leaves``.
    """

    adapters: tuple[str, ...]
    leaves: tuple[str, ...]
    leaf: Ints
    channels: tuple[tuple[str, int], ...]
    far: tuple[str, ...]
    steps: Ints
    lost: NDArray[np.bool_]
    looping: NDArray[np.bool_]

    @cached_property
    def index(self) -> dict[str, int]:
        """Adapter → its number."""
        return {name: i for i, name in enumerate(self.adapters)}

    @cached_property
    def sources(self) -> Ints:
        """How many adapters send from leaf l to adapter d: all of the leaf but d itself."""
        on = np.bincount(self.leaf, minlength=len(self.leaves)).astype(np.int32)
        sources = np.repeat(on[:, None], len(self.adapters), axis=1)
        sources[self.leaf, np.arange(len(self.adapters))] -= 1
        return sources

    @property
    def pairs(self) -> int:
        """Ordered pairs of different adapters."""
        return len(self.adapters) * (len(self.adapters) - 1)

    @property
    def unreachable(self) -> int:
        """Ordered pairs without a route."""
        return int(self.sources[self.lost].sum())

    @property
    def loops(self) -> int:
        """Ordered pairs whose packets circle."""
        return int(self.sources[self.looping].sum())

    def example(self, which: NDArray[np.bool_]) -> tuple[str, str]:
        """One (source, destination) of those that ``which`` marks and that have a source."""
        leaf, far = np.argwhere(which & (self.sources > 0))[0]
        near = next(a for a, name in enumerate(self.adapters) if self.leaf[a] == leaf and a != far)
        return self.adapters[near], self.adapters[far]

    def unused(self) -> list[tuple[str, int, str]]:
        """Directed links between switches that no pair takes: (switch, port, far switch)."""
        used = np.unique(self.steps[:, self.sources > 0])
        idle = np.setdiff1d(np.arange(len(self.channels)), used)
        return [(*self.channels[i], self.far[i]) for i in idle]

    def path(self, near: int, far: int) -> list[int]:
        """The channels between switches from one adapter to another, in order."""
        return [int(c) for c in self.steps[:, self.leaf[near], far] if c >= 0]


def load(file: Path, found: Wiring) -> Routes:
    """The routes in the file opensm-lfts.dump: 1.7 GB at 16,384 adapters, mapped and read switch by switch. Raises ValueError."""
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as dump:
        return read(dump, found)


def read(dump: bytes | mmap.mmap, found: Wiring) -> Routes:
    """The routes in an opensm-lfts.dump, on the wiring that was found. Raises ValueError for a dump of other switches."""
    switches, adapters = tuple(found.switches), found.adapters
    by_guid = {guid: name for name, guid in found.guids.items()}
    number = {name: i for i, name in enumerate((*switches, *adapters))}
    peer = np.full((len(switches), max(found.switches.values(), default=0) + 2), -1, dtype=np.int32)
    leaf_of = np.full(len(adapters), -1, dtype=np.int32)
    for a, a_port, b, b_port in found.links:
        for near, port, far in ((a, a_port, b), (b, b_port, a)):
            if near in found.switches:
                peer[number[near], port] = number[far]
            else:
                leaf_of[number[near] - len(switches)] = number[far]
    out = _tables(dump, {guid: number[name] for guid, name in by_guid.items()}, len(switches), len(adapters))
    return _walk(switches, adapters, peer, leaf_of, out)


def _tables(dump: bytes | mmap.mmap, number: Mapping[int, int], switches: int, adapters: int) -> Ints:
    """The outgoing port of each switch for each adapter; ``NO_PORT`` where it has none. A port's GUID is its node's plus one."""
    out = np.full((switches, adapters), NO_PORT, dtype=np.int32)
    heads = [(int(head[1], 16), head.start(), head.end()) for head in _HEAD.finditer(dump)]
    ends = [start for _, start, _ in heads[1:]] + [len(dump)]
    if {number.get(guid) for guid, _, _ in heads} != {*range(switches)}:
        raise ValueError(f"the dump has routes of {len(heads)} switches, and {switches} were found")
    for (switch, _, start), end in zip(heads, ends, strict=True):
        entries = _ENTRY.findall(dump, start, end)
        far = [number[int(guid, 16) - 1] - switches for _, guid in entries]
        out[number[switch], far] = [int(port) for port, _ in entries]
    return out


def _walk(switches: Sequence[str], adapters: tuple[str, ...], peer: Ints, leaf_of: Ints, out: Ints) -> Routes:
    between = (peer >= 0) & (peer < len(switches))
    channel = np.full(peer.shape, -1, dtype=np.int32)
    channel[between] = np.arange(between.sum())
    ports = np.where(out < peer.shape[1], out, peer.shape[1] - 1)  # the last column leads nowhere
    row = np.arange(len(switches))[:, None]
    onward, taken = peer[row, ports], channel[row, ports]
    leaves = np.unique(leaf_of)
    far = np.arange(len(adapters))
    here = np.repeat(leaves[:, None], len(adapters), axis=1)
    steps: list[Ints] = []
    while (moving := (here >= 0) & (here < len(switches))).any():
        if len(steps) == _LONG:
            here = np.where(_circles(onward)[leaves], _CIRCLING, here)
            moving = (here >= 0) & (here < len(switches))
        steps.append(np.where(moving, taken[here * moving, far], -1))
        here = np.where(moving, onward[here * moving, far], here)
    looping = here == _CIRCLING
    lost = ~looping & (here != far + len(switches))
    # What circles has steps without end; those up to the longest way that has one say as much as all.
    kept = steps[: max(1, int((np.array([(s >= 0)[~looping].any() for s in steps]).nonzero()[0].max(initial=0))) + 1)] if steps else []
    where = np.argwhere(between)
    return Routes(
        adapters,
        tuple(switches[i] for i in leaves),
        np.searchsorted(leaves, leaf_of).astype(np.int32),
        tuple((switches[s], int(p)) for s, p in where),
        tuple(switches[peer[s, p]] for s, p in where),
        np.array(kept, dtype=np.int32).reshape(-1, len(leaves), len(adapters)),
        lost,
        looping,
    )


def _circles(onward: Ints) -> NDArray[np.bool_]:
    """Whether a packet at switch s for adapter d is still among switches after more hops than there are: after 1, 2, 4, 8 ... of them.

    ``onward[s, d]`` is the node of the next hop; nodes from the number of switches on, and -1, are ends.
    """
    switches, far = len(onward), np.arange(onward.shape[1])
    ahead = onward
    for _ in range(switches.bit_length() + 1):
        on = (ahead >= 0) & (ahead < switches)
        ahead = np.where(on, ahead[ahead * on, far], ahead)
    return (ahead >= 0) & (ahead < switches)
