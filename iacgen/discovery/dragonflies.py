"""Dragonflies among cabled switches: routers that are joined all to all within a group, and by few links from group to group."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from .wiring import Vertex

if TYPE_CHECKING:
    import networkx as nx

Cables = Mapping[tuple[Vertex, Vertex], tuple[int, float]]
Groups = list[list[Vertex]]
_STEPS = 128  # two routers of a group share its others and, by chance, as many routers of other groups as they have links out of it


def dragonflies(leaves: Collection[Vertex], cables: Cables, names: Mapping[Vertex, str]) -> list[Groups]:
    """The groups of each dragonfly, those without hosts among them. ``leaves`` are the switches with hosts: where no two of them are
    cabled, the switches beyond are spines and no routers. ``names`` of switches decide where the cables can be read in two ways."""
    import networkx as nx

    plain: nx.Graph[Vertex] = nx.Graph(list(cables))
    beside = {a for a, b in cables if a in leaves and b in leaves}
    parts = sorted(sorted(part) for part in nx.connected_components(plain) if not beside.isdisjoint(part))
    return [groups for part in parts if (groups := _cliques(plain.subgraph(part), names))]


def _cliques(part: nx.Graph[Vertex], names: Mapping[Vertex, str]) -> Groups:
    """Two routers of a group have the whole group as neighbours in common, two of different groups few: what is left when the links of few
    are cut, where all of it is joined all to all and no router is alone. One group where all of it is so; none where it is no dragonfly.

    Where each router has its one counterpart in every other group, the counterparts are joined all to all as well, and share as few
    neighbours with the rest: of such readings the one whose groups have names that begin alike, else the one of the largest groups.
    """
    near = {v: set(part[v]) for v in part}
    common = {(a, b): near[a] & near[b] for a, b in part.edges}
    shared = {pair: len(some) for pair, some in common.items()}
    counts = sorted({n for n in shared.values() if n}, reverse=True)[:_STEPS]
    for least in counts:
        if groups := _split(part, [pair for pair, n in shared.items() if n >= least]):
            other = _split(part, [pair for pair, n in shared.items() if n < least]) if least > counts[-1] else []
            return max((groups, other), key=lambda some: _alike(some, names)) if other else groups
    return max(_counterparts(part, common), key=lambda some: _alike(some, names), default=[])


def _counterparts(part: nx.Graph[Vertex], common: Mapping[tuple[Vertex, Vertex], set[Vertex]]) -> list[Groups]:
    """Readings where there are as many groups as routers in one, so that counterparts share as many neighbours as the routers of a group do:
    each two routers lie in one set that is joined all to all, a group's or that of the counterparts, and sets of one kind share no router."""
    sets = {pair: frozenset((*pair, *some)) for pair, some in common.items()}
    first = min(part, default=None)
    of_first = sorted({of for (a, b), of in sets.items() if first in (a, b) and len(of) > 2}, key=sorted)
    if len(of_first) != 2:
        return []
    readings = (_split(part, [pair for pair, of in sets.items() if of == one or of.isdisjoint(one)]) for one in of_first)
    return [groups for groups in readings if groups]


def _split(part: nx.Graph[Vertex], local: Collection[tuple[Vertex, Vertex]]) -> Groups:
    """The groups that ``local`` links join, where they hold every router and each is joined all to all; else none."""
    import networkx as nx

    joined: nx.Graph[Vertex] = nx.Graph(list(local))
    groups = sorted(sorted(group) for group in nx.connected_components(joined))
    whole = len(joined) == len(part) and all(joined.degree(v) == len(group) - 1 for group in groups for v in group)
    return groups if whole else []


def _alike(groups: Groups, names: Mapping[Vertex, str]) -> float:
    """With how many characters the names of a group begin alike, on average."""
    return sum(_same(min(said), max(said)) for said in ([names.get(v, v.id) for v in group] for group in groups)) / len(groups)


def _same(low: str, high: str) -> int:
    return next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))


def raised(graph: nx.DiGraph[Vertex], groups: Groups, cables: Cables) -> None:
    """Put what joins the routers of each group above them, and what joins the groups above that: tiers that no switch stands for.

    A router sends into its group what all its links carry, a group into the whole what leads to others, also to routers without hosts.
    """
    of = {v: i for i, group in enumerate(groups) for v in group}
    sums = totals(cables, (v for v in of if v in graph))
    out: dict[int, tuple[int, float]] = {}
    for (a, b), (links, Bps) in cables.items():
        for here, there in ((a, b), (b, a)):
            if here in of and of[here] != of[there]:
                old = out.get(of[here], (0, 0.0))
                out[of[here]] = (old[0] + links, old[1] + Bps)
    tops = {}
    for i, group in enumerate(groups):
        if members := [v for v in group if v in graph]:
            tops[i] = above(graph, members, sums, f"group of {group[0].id}", f"group{i + 1}")
    if len(tops) > 1:
        top = above(graph, tops.values(), {top: out[i] for i, top in tops.items() if i in out}, f"above {groups[0][0].id}", "global")
    elif tops:
        (top,) = tops.values()
    else:
        return
    beside = {v: next((m for m in groups[i] if m in graph), v) for v, i in of.items() if v not in graph}
    graph.add_node(top, cables=cables, lone=beside if len(tops) > 1 else {})


def totals(cables: Cables, ends: Iterable[Vertex]) -> dict[Vertex, tuple[int, float]]:
    """(links, bytes per second of all of them) of each of ``ends``."""
    out = dict.fromkeys(ends, (0, 0.0))
    for pair, (links, Bps) in cables.items():
        for end in pair:
            if end in out:
                out[end] = (out[end][0] + links, out[end][1] + Bps)
    return out


def above(graph: nx.DiGraph[Vertex], members: Iterable[Vertex], sums: Mapping[Vertex, tuple[int, float]], id: str, name: str) -> Vertex:
    """A vertex for what joins ``members``, each with the links that ``sums`` gives it; it stands for no switch."""
    top = Vertex("switch", id)
    graph.add_node(top, name=name, stands=True)
    for member in members:
        links, Bps = sums.get(member, (1, float("inf")))
        graph.add_edge(member, top, links=links or 1, Bps=Bps)
    return top
