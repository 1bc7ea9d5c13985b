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
    """``members`` are hosts or switches by their numbers in the fabric. ``hue`` tells leaves of one group apart, from 0; ``cells`` are
    names that are shown one by one inside."""

    kind: Kind
    members: tuple[int, ...]
    label: tuple[str, ...]
    title: str
    hue: int | None = None
    cells: tuple[str, ...] = ()

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


def counted(number: int, noun: str) -> str:
    """A number with its noun, which takes an s or, after a hiss, es."""
    return f"{number:,} {noun}" + ("" if number == 1 else "es" if noun.endswith(("s", "h")) else "s")


def switches(view: View, kind: Literal["leaf", "spine", "core"], members: Iterable[int], where: str = "", hue: int | None = None, number: str = "") -> Lot:
    """Switches as one box. ``where`` names the place in the title, ``number`` is a further line of the label."""
    fabric, members = view.fabric, tuple(members)
    names = [fabric.switch_names[i] for i in members]
    model = next(tier.switch.name for tier in fabric.tiers if tier.kind == kind)
    if len(members) == 1:
        *outer, last = short(fabric, names[0]).split("-")
        sets = " ".join(word for word in outer if word.startswith(("plane", "rail")))
        return Lot(kind, members, tuple(filter(None, (last, sets, number))), f"{names[0]}: 1 {kind} switch, {model}", hue)
    sets = f"plane{view.plane(members[0]) + 1}" if fabric.planes > 1 else ""
    title = f"{counted(len(members), f'{kind} switch')}{f' of {where}' if where else ''}, {model}: {span(names)}"
    return Lot(kind, members, tuple(filter(None, (f"{len(members):,} × {kind}", sets, number))), title, hue)


def hosts(view: View, members: Iterable[int], where: str, in_cells: bool = False) -> Lot:
    """Hosts as one box: how many of each pool, and their names where there is room."""
    fabric, members = view.fabric, tuple(members)
    names = [fabric.hosts[i] for i in members]
    if len(members) == 1:
        return Lot("host", members, (names[0],), f"{names[0]}: 1 host of {where}")
    pools = Counter(map(pool_of, names))
    title = f"{counted(len(names), 'host')} of {where}: " + (", ".join(f"{n:,} {pool}" for pool, n in pools.items()) if names else "none yet")
    if len(pools) == 1:
        title = f"{counted(len(names), 'host')} of {where}: {span(names)}"
    lines = [f"{n:,} × {pool}" for pool, n in pools.items()]
    if len(lines) > MOST_POOLS:
        rest = list(pools.values())[MOST_POOLS - 1 :]
        lines = [*lines[: MOST_POOLS - 1], f"{sum(rest):,} × {len(rest)} pools"]
    return Lot("host", members, tuple(lines or ["no hosts"]), title, cells=tuple(names) if in_cells else ())


def manager(view: View) -> tuple[Lot, ...]:
    """The hosts of the subnet manager that have ports on the fabric for it."""
    manager = view.fabric.manager
    if not manager or not any(found.joins == "manager-leaf" for found in view.links):
        return ()
    return tuple(Lot("manager", (i,), (host, manager.kind), f"{host}: 1 subnet manager host, {manager.kind}") for i, host in enumerate(manager.hosts))


def runs(members: Sequence[int], most: int) -> list[tuple[int, ...]]:
    """Neighbours in at most ``most`` runs, equal but for the last."""
    size = -(-len(members) // most) if members else 1
    return [tuple(members[at : at + size]) for at in range(0, len(members), size)]
