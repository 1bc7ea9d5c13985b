"""Bring a wiring into the shape of tiers: each link gets an upper end, hosts stay off switches that join switches, and what joins
switches of one tier becomes a tier of its own."""

from __future__ import annotations

import math
from collections import Counter, deque
from typing import TYPE_CHECKING

from .dragonflies import Cables, above, dragonflies, raised, totals
from .wiring import Vertex, Wiring

if TYPE_CHECKING:
    import networkx as nx

_STRAY = 2  # a switch with so many times fewer hosts than those it is cabled to is above them, not beside them


def shaped(wiring: Wiring) -> nx.DiGraph[Vertex]:
    """The graph with every link upwards, switches above no host left out. Expects no cycle in what the source itself directs."""
    graph = wiring.graph.copy()
    flies = dragonflies({high for low, high in graph.edges if low.kind == "host"}, wiring.cables, {v: name for v, name in graph.nodes(data="name") if name})
    routers = {v for groups in flies for group in groups for v in group}
    peers = _orient(graph, {pair: link for pair, link in wiring.cables.items() if pair[0] not in routers})
    useful = _reached(graph)
    graph.remove_nodes_from([v for v in graph if v not in useful])
    _separate(graph)
    _bridge(graph, {pair: link for pair, link in peers.items() if all(end in graph and not graph.succ[end] for end in pair)})
    for groups in flies:
        own = {v for group in groups for v in group}
        raised(graph, groups, {pair: link for pair, link in wiring.cables.items() if pair[0] in own})
    return graph


def cycle(graph: nx.DiGraph[Vertex]) -> list[str]:
    """The ids of switches that lie above themselves, in order; empty where there are none."""
    import networkx as nx

    return [] if nx.is_directed_acyclic_graph(graph) else [low.id for low, _ in nx.find_cycle(graph)]


def _reached(graph: nx.DiGraph[Vertex]) -> set[Vertex]:
    """What lies above a host, and the hosts that something lies above."""
    seen = {v for v in graph if v.kind == "host" and graph.succ[v]}
    queue = deque(seen)
    while queue:
        for high in graph.succ[queue.popleft()]:
            if high not in seen:
                seen.add(high)
                queue.append(high)
    return seen


def _orient(graph: nx.DiGraph[Vertex], cables: Cables) -> Cables:
    """Direct each cable away from the hosts by the distance of its ends from them; the cables within one distance are given back."""
    hosts = Counter(high for low, high in graph.edges if low.kind == "host")
    near: dict[Vertex, list[Vertex]] = {}
    for a, b in cables:
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    stray = _stray(hosts, near, cables)
    distance = dict.fromkeys((s for s in hosts if s not in stray), 1)
    queue = deque(sorted(distance))
    while queue:
        here = queue.popleft()
        for other in near.get(here, ()):
            if other not in distance:
                distance[other] = distance[here] + 1
                queue.append(other)
    peers: dict[tuple[Vertex, Vertex], tuple[int, float]] = {}
    for (a, b), (links, Bps) in cables.items():
        if distance.get(a) == distance.get(b):
            peers[a, b] = (links, Bps)
        elif a in distance and b in distance:
            low, high = (a, b) if distance[a] < distance[b] else (b, a)
            graph.add_edge(low, high, links=links, Bps=Bps)
    tops = {s for pair in peers for s in pair if not any(high.kind == "switch" for high in graph.successors(s))}
    for (a, b), (links, Bps) in list(peers.items()):
        if (a in tops) != (b in tops):  # beside one that others lie above: it is one of those itself, with hosts on it
            graph.add_edge(*((b, a) if a in tops else (a, b)), links=links, Bps=Bps)
            del peers[a, b]
    return peers


def _stray(hosts: Counter[Vertex], near: dict[Vertex, list[Vertex]], cables: Cables) -> set[Vertex]:
    """A manager or a gateway that hangs on a spine does not make it a leaf; where leaves are cabled to each other anyway, none is told apart."""
    few = {s for s, n in hosts.items() if 2 * sum(hosts[other] >= _STRAY * n for other in near.get(s, ())) > len(near.get(s, ()))}
    beside = sum(hosts[a] > 0 and hosts[b] > 0 and a not in few and b not in few for a, b in cables)
    return few if 2 * beside <= sum((a in few) != (b in few) for a, b in cables) else set()


def _separate(graph: nx.DiGraph[Vertex]) -> None:
    """Hosts on a switch that also joins switches get a leaf of their own below it."""
    for switch in sorted(v for v in graph if v.kind == "switch"):
        below = sorted(graph.predecessors(switch))
        hosts = [v for v in below if v.kind == "host"]
        if not hosts or len(hosts) == len(below):
            continue
        own = Vertex("switch", f"{switch.id} hosts")
        graph.add_node(own, name=f"{graph.nodes[switch]['name'][:58]}-hosts")
        for host in hosts:
            graph.add_edge(host, own, **graph.edges[host, switch])
            graph.remove_edge(host, switch)
        graph.add_edge(own, switch, links=1, Bps=math.inf)


def _bridge(graph: nx.DiGraph[Vertex], peers: Cables) -> None:
    """Switches that are joined to each other and to nothing above, in a ring or at random: what joins them is a tier that no switch stands for."""
    import networkx as nx

    sums = totals(peers, (end for pair in peers for end in pair))
    for part in sorted(sorted(p) for p in nx.connected_components(nx.Graph(list(peers)))):
        top = above(graph, part, sums, f"above {part[0].id}", "joined")
        own = set(part)
        graph.add_node(top, cables={pair: link for pair, link in peers.items() if pair[0] in own}, lone={})
