"""Which switches are one fabric: those that cables join, and planes that carry the rails of the same hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .groups import Joined
from .wiring import Vertex

if TYPE_CHECKING:
    import networkx as nx

_ALIKE = 0.9  # of the hosts of two planes, how many are on both; the rest has lost a cable


def parts(graph: nx.DiGraph[Vertex]) -> list[tuple[set[Vertex], bool]]:
    """(hosts and switches, whether the switches are joined) of each fabric, the largest first.

    A host that is on two fabrics joins them not: compute and storage stay two. Only planes with as many leaves each over the same hosts,
    such as the rails of a rail-only fabric, are one.
    """
    import networkx as nx

    planes = sorted((sorted(p) for p in nx.weakly_connected_components(graph.subgraph(v for v in graph if v.kind == "switch"))), key=lambda p: p[0])
    hosts = [{low for s in plane for low in graph.predecessors(s) if low.kind == "host"} for plane in planes]
    leaves = [sum(any(low.kind == "host" for low in graph.predecessors(s)) for s in plane) for plane in planes]
    joined = Joined(range(len(planes)))
    on: dict[Vertex, list[int]] = {}
    for i, of in enumerate(hosts):
        for host in of:
            on.setdefault(host, []).append(i)
    for i, j in sorted({(some[0], j) for some in on.values() for j in some[1:]} | {pair for some in on.values() for pair in zip(some, some[1:], strict=False)}):
        if leaves[i] == leaves[j] and len(hosts[i] & hosts[j]) >= _ALIKE * len(hosts[i] | hosts[j]):
            joined.join(i, j)
    together: dict[object, list[int]] = {}
    for i in range(len(planes)):
        together.setdefault(joined.root(i), []).append(i)
    out = [({v for i in some for v in (*planes[i], *hosts[i])}, len(some) == 1) for some in together.values()]
    return sorted(out, key=lambda part: (-len(part[0]), min(part[0])))
