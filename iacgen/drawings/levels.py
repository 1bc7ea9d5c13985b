"""How much detail a picture can show: the finest level at which boxes have room side by side and lines can be told apart.

A tree is drawn in columns. A column is a group of leaves with its hosts; else a run of groups of one pod; else a run of pods.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from . import lots
from .lots import PAD, Lot
from .view import Bundle, View, bundles

WIDEST = 1760  # pixels for boxes side by side: on a screen of 1,920 pixels no word is scaled below 90 %
MOST_LINES = 640  # between two tiers
MOST_ALONE = 24  # hosts with lines of their own
MOST_CELLS = 192  # hosts by name
FEW = 16  # boxes of one tier where switches are not drawn one by one
GAP, COLUMN_GAP, SECTION_GAP = 6, 26, 32  # pixels from box to box: in a row, across the frames of columns, of sections

HostDetail = Literal["alone", "cells", "count"]
SwitchDetail = Literal["alone", "sets", "few"]


@dataclass(frozen=True)
class Column:
    """Groups that stand below each other's switches, with the boxes of their leaves and hosts."""

    label: str
    groups: range
    pod: int | None
    leaves: tuple[Lot, ...]
    hosts: tuple[Lot, ...]

    @property
    def width(self) -> float:
        """Pixels that its boxes need."""
        leaves = row_width(self.leaves)
        return max(leaves, hosts_width(self.hosts, leaves))


@dataclass(frozen=True)
class Section:
    """Columns under the same spines: a pod, a run of pods, or all."""

    label: str
    columns: tuple[Column, ...]
    spines: tuple[Lot, ...]

    @property
    def width(self) -> float:
        """Pixels that it needs without a frame."""
        return max(sum(c.width for c in self.columns) + COLUMN_GAP * (len(self.columns) - 1), row_width(self.spines))


@dataclass(frozen=True)
class Plan:
    """All boxes of a picture, and the bundles that join them; a bundle counts lots as ``lots`` does."""

    view: View
    sections: tuple[Section, ...]
    cores: tuple[Lot, ...]
    managers: tuple[Lot, ...]
    lots: tuple[Lot, ...]
    bundles: tuple[Bundle, ...]

    @property
    def width(self) -> float:
        """Pixels that the boxes need side by side."""
        return max(self.managers_width + sum(s.width for s in self.sections) + (len(self.sections) - 1) * SECTION_GAP, row_width(self.cores))

    @property
    def managers_width(self) -> float:
        """Pixels that the manager's hosts take at the left, with the room after them."""
        return sum(lot.label_width + GAP for lot in self.managers) + COLUMN_GAP if self.managers else 0.0


def row_width(row: tuple[Lot, ...]) -> float:
    """Pixels of boxes side by side, all as wide as the widest."""
    return len(row) * (max((lot.label_width for lot in row), default=0.0) + GAP) - GAP if row else 0.0


def cells_across(lot: Lot, room: float) -> int:
    """Cells side by side in a box of hosts: as many as the leaves above leave room for, and not many more rows than columns."""
    return max(1, min(len(lot.cells), max(int((room - PAD) // lot.cell_width), round(len(lot.cells) ** 0.5))))


def hosts_width(row: tuple[Lot, ...], room: float) -> float:
    """Pixels that hosts need below leaves that are ``room`` wide."""
    if len(row) == 1 and row[0].cells:
        return max(row[0].label_width, cells_across(row[0], room) * row[0].cell_width + PAD)
    return row_width(row)


def plan(view: View) -> Plan:
    """The finest plan that has room; the coarsest one, which needs little, where none has."""
    last = None
    for last in _plans(view):
        if last.width <= WIDEST and _most_lines(last) <= MOST_LINES:
            return last
    assert last
    return last


def _most_lines(plan: Plan) -> int:
    return max((sum(b.joins == joins for b in plan.bundles) for joins in {b.joins for b in plan.bundles}), default=0)


def _plans(view: View) -> Iterator[Plan]:
    """From fine to coarse."""
    groups, count = len(view.fabric.groups), len(view.fabric.hosts)
    fine: list[HostDetail] = [*(["alone"] if count <= MOST_ALONE else []), *(["cells"] if count <= MOST_CELLS else []), "count"]  # type: ignore[list-item]
    for host_detail in fine:
        if groups <= 2 * FEW:
            yield from _with_uppers(view, _groups(view), host_detail, True)
    for most in (3 * FEW, 2 * FEW, FEW, 12, 8):
        yield from _with_uppers(view, _merged(view, most), "count", False)


def _with_uppers(view: View, columns: list[range], hosts: HostDetail, leaves_alone: bool) -> Iterator[Plan]:
    made = [_column(view, groups, hosts, leaves_alone) for groups in columns]
    for spines, cores in (("alone", "alone"), ("alone", "few"), ("sets", "few"), ("few", "few")):
        if spines == "alone" and (len(view.spines) > 4 * FEW or not leaves_alone and len(view.all_leaves) > 4 * len(view.spines) * 8):
            continue
        yield _plan(view, made, spines, cores)  # type: ignore[arg-type]


def _groups(view: View) -> list[range]:
    return [range(i, i + 1) for i in range(len(view.fabric.groups))]


def _merged(view: View, most: int) -> list[range]:
    """At most ``most`` columns: groups one by one, else equal runs of them that stay within their pod, else whole pods, else runs of pods."""
    fabric = view.fabric
    if len(fabric.groups) <= most:
        return _groups(view)
    if not fabric.pods:
        return [range(run[0], run[-1] + 1) for run in lots.runs(range(len(fabric.groups)), most)]
    each = max(1, most // len(fabric.pods))
    if each > 1:
        return [range(run[0], run[-1] + 1) for pod in fabric.pods for run in lots.runs(pod.groups, each)]
    return [range(fabric.pods[run[0]].groups[0], fabric.pods[run[-1]].groups[-1] + 1) for run in lots.runs(range(len(fabric.pods)), most)]


def _column(view: View, groups: range, detail: HostDetail, leaves_alone: bool) -> Column:
    fabric = view.fabric
    pods = [i for i, pod in enumerate(fabric.pods) if pod.groups.start < groups.stop and groups.start < pod.groups.stop]
    whole_pods = bool(pods) and groups == range(fabric.pods[pods[0]].groups.start, fabric.pods[pods[-1]].groups.stop)
    names = [fabric.pods[i].name for i in pods] if whole_pods and len(groups) > 1 else [fabric.groups[i].name for i in groups]
    label = lots.span([lots.short(fabric, name) for name in names])
    leaves = [(leaf, position) for g in groups for position, leaf in enumerate(view.leaves[g])]
    if leaves_alone:
        boxes = [lots.switches(view, "leaf", (leaf,), hue=view.hue(leaf, position)) for leaf, position in leaves]
    else:
        planes = [[leaf for leaf, _ in leaves if view.plane(leaf) == plane] for plane in range(fabric.planes)]
        boxes = [lots.switches(view, "leaf", members, label, plane if fabric.planes > 1 else None) for plane, members in enumerate(planes) if members]
    members = range(view.first_host[groups.start], view.first_host[groups.stop])
    shown = [lots.hosts(view, (host,), label) for host in members] if detail == "alone" and members else [lots.hosts(view, members, label, detail == "cells" and len(members) > 1)]
    return Column(label, groups, pods[0] if pods else None, tuple(boxes), tuple(shown))


def _plan(view: View, columns: list[Column], spine_detail: SwitchDetail, core_detail: SwitchDetail) -> Plan:
    sections = tuple(_sections(view, columns, spine_detail))
    cores = tuple(_upper(view, "core", view.cores, core_detail))
    managers = lots.manager(view)
    every = (*(lot for c in columns for lot in (*c.hosts, *c.leaves)), *(lot for s in sections for lot in s.spines), *cores, *managers)
    of_switch = np.full(view.fabric.switches, -1)
    of_host = np.full(len(view.fabric.hosts), -1)
    of_manager = np.full(len(managers) or 1, -1)
    for number, lot in enumerate(every):
        {"host": of_host, "manager": of_manager}.get(lot.kind, of_switch)[list(lot.members)] = number
    single = np.array([lot.single for lot in every])
    return Plan(view, sections, cores, managers, every, tuple(bundles(view, of_switch, of_host, of_manager, single)))


def _sections(view: View, columns: list[Column], detail: SwitchDetail) -> Iterator[Section]:
    """Columns of one pod or one run of pods, which may be a single column, share a section."""
    fabric = view.fabric
    if not fabric.pods:
        yield Section("", tuple(columns), tuple(_upper(view, "spine", view.spines, detail)))
        return
    at = 0
    while at < len(columns):
        first = columns[at]
        inside = [c for c in columns[at:] if c.pod == first.pod]
        at += len(inside)
        stop = inside[-1].groups.stop
        pods = range(first.pod or 0, columns[at].pod or 0) if at < len(columns) else range(first.pod or 0, len(fabric.pods))
        assert stop == fabric.pods[pods[-1]].groups.stop
        label = lots.span([lots.short(fabric, fabric.pods[i].name) for i in pods])
        spines = [s for s in view.spines if view.pods_of_spines[s] in pods]
        yield Section(label, tuple(inside), tuple(_upper(view, "spine", spines, detail if detail == "alone" else "sets" if detail == "sets" else "few", label, len(pods) and 1)))


def _upper(view: View, kind: Literal["spine", "core"], members: tuple[int, ...] | list[int], detail: SwitchDetail, where: str = "", few: int = FEW) -> Iterator[Lot]:
    """Boxes of spines or cores: each, or those whose names differ by the number alone, or a few runs of them a plane."""
    if detail == "alone":
        yield from (lots.switches(view, kind, (s,)) for s in members)
        return
    by_set: dict[object, list[int]] = {}
    for s in members:
        by_set.setdefault(view.fabric.switch_names[s].rstrip("0123456789") if detail == "sets" else view.plane(s), []).append(s)
    for switches in by_set.values():
        for run in [tuple(switches)] if detail == "sets" else lots.runs(switches, max(1, few // view.fabric.planes)):
            yield lots.switches(view, kind, run, where)
