"""Lots: devices of one kind that a picture shows as one box, with the words in the box and those under the pointer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from iacgen.design.fabric.model import Fabric, pool_of

from .picture import text_width
from .view import View

Kind = Literal["host", "leaf", "spine", "core", "manager"]

NAME, CELL, PAD, LEADING = 10, 9, 6, 13  # sizes of fonts, the room round words and from line to line, in pixels
MOST_POOLS = 4  # lines that tell the pools of a lot of hosts


@dataclass(frozen=True)
class Lot:
    """``members`` are hosts or switches by their numbers in the fabric. ``what`` it is, and ``more`` about it, make the title. ``hue``
    tells leaves of one group apart, from 0; ``cells`` are names that are shown one by one inside."""

    kind: Kind
    members: tuple[int, ...]
    label: tuple[str, ...]
    what: str
    more: str
    hue: int | None = None
    cells: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What a pointer on it is told."""
        return f"{self.what}: {self.more}"

    @property
    def single(self) -> bool:
        """Whether it is one device."""
        return len(self.members) == 1

    @property
    def label_width(self) -> float:
        """Pixels that its words need."""
        return max(text_width(line, NAME, "mono") for line in self.label) + 2 * PAD

    @property
    def label_height(self) -> float:
        """Pixels that its words need from top to bottom."""
        return len(self.label) * LEADING + PAD

    @property
    def cell_width(self) -> float:
        """Pixels that its longest cell needs."""
        return max(text_width(name, CELL, "mono") for name in self.cells) + PAD


def short(fabric: Fabric, name: str) -> str:
    """A switch's or a group's name without the fabric's."""
    return name.removeprefix(f"{fabric.name}-")


def span(names: Sequence[str]) -> str:
    """The first of a row of names to the last."""
    return names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}"


def run(names: Sequence[str]) -> str:
    """The same for names that differ by their last number alone, which is then not repeated: ``su1–4``."""
    stem = names[0].rstrip("0123456789")
    return names[0] if len(names) == 1 else f"{names[0]}–{names[-1].removeprefix(stem)}"


def set_of(fabric: Fabric, switch: int, words: tuple[str, ...]) -> str:
    """What a switch's name says of its plane and its rail, as far as ``words`` ask for it."""
    *outer, _ = short(fabric, fabric.switch_names[switch]).split("-")
    return " ".join(part for part in outer if part.startswith(words))


def counted(number: int, noun: str) -> str:
    """A number with its noun."""
    return plural(f"{number:,}", noun, number)


def plural(told: str, noun: str, most: int) -> str:
    """A count in words, of ``most`` at most, with its noun, which takes an s or, after a hiss, es."""
    return f"{told} {noun}" + ("" if most == 1 else "es" if noun.endswith(("s", "h")) else "s")


def switches(view: View, kind: Literal["leaf", "spine", "core"], members: Iterable[int], where: str = "", hue: int | None = None, words: str = "") -> Lot:
    """Switches as one box. ``where`` names their place in the title, ``words`` what they have in common; of one switch its name tells."""
    fabric, members = view.fabric, tuple(members)
    names = [fabric.switch_names[i] for i in members]
    rails = {set_of(fabric, i, ("rail",)) for i in members} if kind == "spine" and fabric.planes == 1 and view.rail is None else set()
    if len(rails) == 1 and (rail := rails.pop()):
        hue = int(rail.removeprefix("rail")) - 1  # these spines join the leaves of one rail alone
    model = next(tier.switch.name for tier in fabric.tiers if tier.kind == kind)
    if len(members) == 1:
        label = (names[0].rpartition("-")[2], set_of(fabric, members[0], ("plane", "rail")))
        return Lot(kind, members, tuple(filter(None, label)), names[0], f"1 {kind} switch, {model}", hue)
    words = words or (f"plane{view.plane(members[0]) + 1}" if fabric.planes > 1 else "")
    what = f"{counted(len(members), f'{kind} switch')}{f' of {where}' if where else ''}"
    noun = f"{kind}{view.rail + 1}" if view.rail is not None and kind == "leaf" else kind
    return Lot(kind, members, tuple(filter(None, (f"{len(members):,} × {noun}", words))), what, f"{model}, {span(names)}", hue)


def hosts(view: View, members: Iterable[int], where: str, units: str = "", in_cells: bool = False) -> Lot:
    """Hosts as one box: how many of each pool, of how many units, and their names where there is room."""
    fabric, members = view.fabric, tuple(members)
    names = [fabric.hosts[i] for i in members]
    if len(members) == 1:
        return Lot("host", members, (names[0],), names[0], f"1 host of {where}")
    pools = Counter(map(pool_of, names))
    told = span(names) if len(pools) == 1 else ", ".join(f"{n:,} {pool}" for pool, n in pools.items()) if names else "none yet"
    lines = [f"{n:,} × {pool}" for pool, n in pools.items()]
    if len(lines) > MOST_POOLS:
        rest = list(pools.values())[MOST_POOLS - 1 :]
        lines = [*lines[: MOST_POOLS - 1], f"{sum(rest):,} others"]
    label = (*(lines or ["no hosts"]), *([units] if units else []))
    return Lot("host", members, label, f"{counted(len(names), 'host')} of {where}", told, cells=tuple(names) if in_cells else ())


def managers(view: View) -> tuple[Lot, ...]:
    """The hosts of the subnet manager that have ports for it among the links shown."""
    manager = view.fabric.manager
    used = sorted({int(i) for found in view.links if found.joins == "manager-leaf" for i in found.a})
    return tuple(Lot("manager", (i,), (manager.hosts[i], manager.kind), manager.hosts[i], f"subnet manager, {manager.kind}") for i in used if manager)


def runs(members: Sequence[int], most: int) -> list[tuple[int, ...]]:
    """Neighbours in at most ``most`` runs: equal ones, where that takes no fewer than half as many, else equal but for the last."""
    even = next((n for n in range(min(most, len(members)), most // 2, -1) if len(members) % n == 0), None)
    size = len(members) // even if even else -(-len(members) // most)
    return [tuple(members[at : at + size]) for at in range(0, len(members), size or 1)]
