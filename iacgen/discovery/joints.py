"""Groups that links join straight to each other, with no switch above them, as those of a dragonfly: how much goes from each to each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..design.fabric.cabling import Cabling
from ..design.fabric.hierarchy import Hierarchy
from .groups import natural
from .wiring import Vertex

if TYPE_CHECKING:
    import networkx as nx

Links = Mapping[tuple[Vertex, Vertex], tuple[int, float]]


def with_joints(found: Hierarchy, graph: nx.DiGraph[Vertex]) -> Hierarchy:
    """The same with what joins the groups below its last tier, where no switch does. ``graph`` says in ``cables`` of a vertex that stands
    for no switch which links it stands for, and in ``lone`` beside which switches with hosts lie those without."""
    tops = [graph.nodes[v] for v in graph if "cables" in graph.nodes[v]]
    if not tops or len(found.tiers) < 2 or found.islands != 1:
        return found
    cables = {pair: link for top in tops for pair, link in top["cables"].items()} | _below(graph)
    homes = _homes(found, graph)
    homes |= {v: homes[beside] for top in tops for v, beside in top.get("lone", {}).items() if beside in homes}
    cables = {pair: link for pair, link in cables.items() if pair[0] in homes and pair[1] in homes}
    many, label = len(found.groups[-2]), found.labels[-2]
    pair_Bps = np.zeros((many, many))
    for (a, b), (_, Bps) in cables.items():
        one, other = label[homes[a]], label[homes[b]]
        pair_Bps[one, other] += Bps
        pair_Bps[other, one] += Bps
    np.fill_diagonal(pair_Bps, math.inf)
    told = all(math.isfinite(Bps) for _, Bps in cables.values()) and bool((pair_Bps > 0).all())
    if not told:
        return replace(found, pair_Bps=np.full((many, many), math.inf))
    if len(found.tiers) == 2:  # leaves joined to each other: each pair is a link
        return replace(found, pair_Bps=pair_Bps)
    return replace(found, pair_Bps=pair_Bps, cabling=_cabling(found, graph, cables, homes))


def _below(graph: nx.DiGraph[Vertex]) -> dict[tuple[Vertex, Vertex], tuple[int, float]]:
    """The links between real switches of which one is above the other."""
    real = [(low, high, edge) for low, high, edge in graph.edges(data=True) if low.kind == "switch" and "stands" not in graph.nodes[low] and "stands" not in graph.nodes[high]]
    return {(low, high): (edge["links"], edge["Bps"]) for low, high, edge in real if not _same(low, high)}


def _same(low: Vertex, high: Vertex) -> bool:
    """Whether ``low`` is the part of ``high`` that carries hosts."""
    return low.id == f"{high.id} hosts"


def _homes(found: Hierarchy, graph: nx.DiGraph[Vertex]) -> dict[Vertex, int]:
    """Switch → the number of a host below it."""
    import networkx as nx

    out: dict[Vertex, int] = {}
    for vertex in nx.topological_sort(graph):
        if vertex.kind == "host":
            out[vertex] = found.index[vertex.id]
        elif below := [out[low] for low in graph.pred[vertex] if low in out]:
            out[vertex] = min(below)
    return out


def _cabling(found: Hierarchy, graph: nx.DiGraph[Vertex], cables: Links, homes: Mapping[Vertex, int]) -> Cabling:
    import networkx as nx

    ends = sorted({v for pair in cables for v in pair}, key=lambda v: (natural(v.id), v.id))
    number = {v: i for i, v in enumerate(ends)}
    leaf = np.full(len(ends), -1, dtype=np.int64)
    for v, i in number.items():
        own = Vertex("switch", f"{v.id} hosts")
        hosts = [low for s in (v, own) if s in graph for low in graph.pred[s] if low.kind == "host"]
        if hosts:
            leaf[i] = found.labels[0, found.index[min(hosts).id]]
    parts = sorted(sorted(number[v] for v in part) for part in nx.connected_components(nx.Graph(list(cables))))
    plane = np.zeros(len(ends), dtype=np.int64)
    for n, part in enumerate(parts):
        plane[part] = n
    pairs = sorted(cables, key=lambda pair: (number[pair[0]], number[pair[1]]))
    a, b = (np.array([number[pair[end]] for pair in pairs], dtype=np.int64) for end in (0, 1))
    links = np.array([cables[pair][0] for pair in pairs], dtype=np.int64)
    names = tuple(graph.nodes[v]["name"] if v in graph else v.id for v in ends)
    return Cabling(names, leaf, np.array([found.labels[-2, homes[v]] for v in ends], dtype=np.int64), plane, a, b, links, np.array([cables[pair][1] for pair in pairs]))
