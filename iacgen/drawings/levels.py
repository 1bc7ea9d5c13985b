"""How much detail a picture can show: the finest level at which boxes have room side by side and lines can be told apart.

A tree is drawn in columns. A column is a group of leaves with its hosts; else a run of groups of one pod; else a run of pods. Columns
under the same spines are a section. Where there are too many pods, the first is shown by its groups and the others in runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from . import lots
from .lots import Lot
from .plan import Column, Plan, Section
from .view import View

WIDEST = 1760  # pixels for boxes side by side: on a screen of 1,920 pixels no word is scaled below 90 %
MOST_LINES = 640  # between two tiers
MOST_ALONE = 24  # hosts with lines of their own
MOST_CELLS = 192  # hosts by name
FEW = 16  # boxes of one tier where switches are not drawn one by one
OPENED = 8  # groups of the first pod that are shown one by one beside runs of pods

HostDetail = Literal["alone", "cells", "count"]
Upper = Literal["alone", "sets", "planes"]
Detail = tuple[list[range], HostDetail, bool, Upper, Upper]  # groups of each column, hosts, whether leaves are alone, spines, cores


def plan_of(view: View) -> Plan:
    """The finest plan that has room; the coarsest one, which needs little, where none has."""
    last = None
    for detail in _details(view):
        last = _plan(view, *detail)
        if last.width <= WIDEST and last.most_lines <= MOST_LINES:
            break
    assert last
    return last


def plan_of_pod(view: View, pod: int) -> Plan:
    """One pod alone: each leaf, as far as there are few enough of them, with its hosts."""
    groups = view.fabric.pods[pod].groups
    count = view.first_host[groups.stop] - view.first_host[groups.start]
    runs = [range(run[0], run[-1] + 1) for run in lots.runs(groups, FEW)]
    made = None
    for detail, most in (("alone", MOST_ALONE), ("cells", MOST_CELLS), ("count", count)):
        columns = [_column(view, own, detail, True) for own in runs]  # type: ignore[arg-type]
        spines = tuple(s for s in view.spines if view.pods_of_spines[s] == pod)
        uppers = tuple(_upper(view, "spine", spines, "alone" if len(spines) <= FEW else "sets", ""))
        managers = () if pod else lots.managers(view)
        made = Plan(view, (Section("", tuple(columns), uppers),), (), managers, (*(lot for c in columns for lot in (*c.hosts, *c.leaves)), *uppers, *managers))
        if count <= most and made.width <= WIDEST / 2:
            break
    assert made
    return made


def _details(view: View) -> Iterator[Detail]:
    """From fine to coarse."""
    groups, count = len(view.fabric.groups), len(view.fabric.hosts)
    uppers: list[tuple[Upper, Upper]] = [("sets", "sets"), ("planes", "planes")]
    if len(view.cores) <= 2 * FEW:
        uppers.insert(0, ("sets", "alone"))
    if len(view.spines) <= 2 * FEW:
        uppers[:0] = [("alone", "alone"), ("alone", "sets")]
    fine: list[tuple[HostDetail, int]] = [("alone", MOST_ALONE), ("cells", MOST_CELLS), ("count", count)]
    if groups <= 2 * FEW:
        yield from ((_one_by_one(range(groups)), host, True, *upper) for host, most in fine if count <= most for upper in uppers)
    elif view.rail is not None and view.fabric.pods:
        yield from ((columns, "count", True, *upper) for columns in _opened(view) for upper in uppers)
    for columns in _coarser(view):
        yield from ((columns, "count", False, *upper) for upper in uppers)


def _one_by_one(groups: range) -> list[range]:
    return [range(i, i + 1) for i in groups]


def _coarser(view: View) -> Iterator[list[range]]:
    fabric = view.fabric
    for most in (3 * FEW, 2 * FEW, FEW):
        if len(fabric.groups) <= most:
            yield _one_by_one(range(len(fabric.groups)))
    if fabric.pods:
        yield from _opened(view)
        yield from (_of_pods(view, 0, most) for most in (FEW, FEW // 2))
    else:
        yield from ([range(run[0], run[-1] + 1) for run in lots.runs(range(len(fabric.groups)), most)] for most in (2 * FEW, FEW, FEW // 2))


def _opened(view: View) -> Iterator[list[range]]:
    """The groups of the first pod, or runs of them, then the other pods."""
    first = view.fabric.pods[0].groups
    own = [range(run[0], run[-1] + 1) for run in lots.runs(first, OPENED)]
    if len(view.fabric.pods) > 1:
        yield from ([*own, *_of_pods(view, 1, most)] for most in (FEW, FEW // 2, FEW // 4))
    else:
        yield own


def _of_pods(view: View, first: int, most: int) -> list[range]:
    pods = view.fabric.pods
    return [range(pods[run[0]].groups.start, pods[run[-1]].groups.stop) for run in lots.runs(range(first, len(pods)), most)]


def _plan(view: View, groups: list[range], hosts: HostDetail, leaves_alone: bool, spines: Upper, cores: Upper) -> Plan:
    columns = [_column(view, own, hosts, leaves_alone) for own in groups]
    sections = tuple(_sections(view, columns, spines))
    tops = tuple(_upper(view, "core", view.cores, cores, ""))
    managers = lots.managers(view)
    every = (*(lot for c in columns for lot in (*c.hosts, *c.leaves)), *(lot for s in sections for lot in s.spines), *tops, *managers)
    return Plan(view, sections, tops, managers, every)


def _column(view: View, groups: range, detail: HostDetail, leaves_alone: bool) -> Column:
    fabric = view.fabric
    pods = [i for i, pod in enumerate(fabric.pods) if pod.groups.start < groups.stop and groups.start < pod.groups.stop]
    label = _label(view, groups, pods)
    leaves = _leaves_alone(view, groups) if leaves_alone and len(groups) == 1 else _leaves_by_plane(view, groups, label)
    members = range(view.first_host[groups.start], view.first_host[groups.stop])
    if detail == "alone" and members:
        shown = [lots.hosts(view, (host,), label) for host in members]
    else:
        units = lots.counted(len(groups), "unit") if fabric.by_rail and len(groups) > 1 else ""
        shown = [lots.hosts(view, members, label, units, detail == "cells" and len(members) > 1)]
    return Column(label, groups, range(pods[0], pods[-1] + 1) if pods else range(0), tuple(leaves), tuple(shown))


def _label(view: View, groups: range, pods: list[int]) -> str:
    """The pods by name, where a column has all of their groups and more than one; else the groups, without the name of their pod."""
    fabric = view.fabric
    if pods and len(groups) > 1 and groups == range(fabric.pods[pods[0]].groups.start, fabric.pods[pods[-1]].groups.stop):
        return lots.run([lots.short(fabric, fabric.pods[i].name) for i in pods])
    inside = f"{fabric.pods[pods[0]].name}-" if pods else ""
    return lots.run([lots.short(fabric, fabric.groups[i].name.removeprefix(inside)) for i in groups])


def _leaves_alone(view: View, groups: range) -> Iterator[Lot]:
    for g in groups:
        yield from (lots.switches(view, "leaf", (leaf,), hue=view.hue(leaf, position)) for position, leaf in enumerate(view.leaves[g]))


def _leaves_by_plane(view: View, groups: range, label: str) -> Iterator[Lot]:
    planes: dict[int, list[int]] = {}
    for leaf in (leaf for g in groups for leaf in view.leaves[g]):
        planes.setdefault(view.plane(leaf), []).append(leaf)
    for plane, members in planes.items():
        yield lots.switches(view, "leaf", members, label, plane if len(planes) > 1 else view.rail)


def _sections(view: View, columns: list[Column], detail: Upper) -> Iterator[Section]:
    fabric = view.fabric
    if not fabric.pods:
        yield Section("", tuple(columns), tuple(_upper(view, "spine", view.spines, detail, "")))
        return
    by_pods: dict[range, list[Column]] = {}
    for column in columns:
        by_pods.setdefault(column.pods, []).append(column)
    for pods, inside in by_pods.items():
        label = lots.run([lots.short(fabric, fabric.pods[i].name) for i in pods])
        spines = tuple(s for s in view.spines if view.pods_of_spines[s] in pods)
        yield Section(label, tuple(inside), tuple(_upper(view, "spine", spines, detail, label)))


def _upper(view: View, kind: Literal["spine", "core"], members: tuple[int, ...], detail: Upper, where: str) -> Iterator[Lot]:
    """Boxes of spines or cores: each; else by plane, and in ``sets`` by rail where their names have one. ``where`` is the pod: without
    one there is room for a few boxes of a set."""
    if detail == "alone":
        yield from (lots.switches(view, kind, (s,)) for s in members)
        return
    by_set: dict[str, list[int]] = {}
    for s in members:
        by_set.setdefault(lots.set_of(view.fabric, s, ("plane", "rail") if detail == "sets" else ("plane",)), []).append(s)
    for words, switches in by_set.items():
        for run in lots.runs(switches, 1 if where else max(1, FEW // len(by_set))):
            yield lots.switches(view, kind, run, where, words=words)
