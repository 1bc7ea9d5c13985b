"""A wiring of hosts and switches → one Hierarchy for each fabric in it: rails fall together, spines that share their leaves are one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..design.fabric.hierarchy import Hierarchy
from ..diagnostics import Diagnostic
from .found import finding, some
from .groups import clusters, common, natural, span, weights
from .joints import with_joints
from .planes import parts
from .shape import cycle, shaped
from .wiring import Vertex, Wiring

if TYPE_CHECKING:
    import networkx as nx

_MOST_TIERS = 32  # real fabrics have four or five; a made-up file may have as many as lines
_MOST_FABRICS = 1000
_WORDS = {1: ("leaf",), 2: ("leaf", "spine"), 3: ("leaf", "pod", "spine"), 4: ("leaf", "pod", "super-pod", "spine")}


@dataclass
class _Group:
    """One group of a tier while it is made: its hosts by number, its name, and the bytes per second that may leave it."""

    hosts: list[int]
    name: str
    Bps: float = math.inf


def collapse(wiring: Wiring) -> tuple[tuple[Hierarchy, ...], tuple[str, ...], list[Diagnostic]]:
    """(fabrics, the largest first; hosts adrift; findings). Switches above themselves are an error and leave nothing."""
    adrift, findings = wiring.settle()
    if above := cycle(wiring.graph):
        return (), adrift, [*findings, finding("switches-at-odds", f"these switches lie above themselves: {some(above)}", wiring.file)]
    graph = shaped(wiring)
    level = _levels(graph)
    if max(level.values(), default=0) > _MOST_TIERS:
        return (), adrift, [*findings, finding("topology-out-of-form", f"more than {_MOST_TIERS} switches lie above each other", wiring.file)]
    out: list[Hierarchy] = []
    fabrics = parts(graph)
    if len(fabrics) > _MOST_FABRICS:
        return (), adrift, [*findings, finding("topology-out-of-form", f"more than {_MOST_FABRICS} fabrics that nothing joins", wiring.file)]
    for vertices, joined in fabrics:
        hierarchy, further = _hierarchy(wiring, graph.subgraph(vertices).copy() if len(fabrics) > 1 else graph, level, joined)
        out.append(hierarchy)
        findings += further
    if len(out) > 1:
        names = _distinct([h.groups[-1][0] if h.islands == 1 else f"{wiring.name}-{i + 1}" for i, h in enumerate(out)])
        out = [replace(h, name=name) for name, h in zip(names, out, strict=True)]
    return tuple(out), adrift, findings


def _hierarchy(wiring: Wiring, graph: nx.DiGraph[Vertex], level: Mapping[Vertex, int], joined: bool) -> tuple[Hierarchy, list[Diagnostic]]:
    """One fabric. ``level`` counts from the hosts; ``joined`` says that a way of switches leads between any two hosts."""
    hosts = sorted((v for v in graph if v.kind == "host"), key=lambda v: natural(v.id))
    owner = {host: i for i, host in enumerate(hosts)}
    groups = [_Group([i], host.id) for i, host in enumerate(hosts)]
    tiers: list[list[_Group]] = []
    findings: list[Diagnostic] = []
    for k in range(1, max(level[v] for v in graph) + 1):
        switches = sorted((v for v in graph if level[v] == k), key=lambda v: (natural(graph.nodes[v]["name"]), v.id))
        below: dict[Hashable, Counter[int]] = {s: _below(graph, s, owner) for s in switches}
        cluster = clusters(below)
        links = weights(below, cluster)
        if k == 1:
            findings = _uneven(wiring, hosts, below, cluster, links)
        groups, home, new = _merged(graph, groups, cluster, links)
        owner = {vertex: home[old] for vertex, old in owner.items()}
        owner |= {s: new.get(cluster[s], home[below[s].most_common(1)[0][0]]) for s in switches}
        tiers.append(groups)
        if wiring.cables and len(groups) == 1 and k > 1:
            groups[0].Bps = math.inf
            break  # what lies above a tier that joins all carries nothing between these hosts
    words = _WORDS.get(len(tiers)) or tuple(f"tier{k + 1}" for k in range(len(tiers)))
    words = wiring.words if len(wiring.words) == len(tiers) else words
    if len(groups) > 1 and joined:
        tiers.append([_Group([i for group in groups for i in group.hosts], f"{wiring.name}-top")])
        words = (*words, "top")
    return with_joints(_ordered(wiring, graph, hosts, tiers, words), graph), findings


def _levels(graph: nx.DiGraph[Vertex]) -> dict[Vertex, int]:
    """Vertex → the length of the longest way to it from a host below."""
    import networkx as nx

    out: dict[Vertex, int] = {}
    for vertex in nx.topological_sort(graph):
        out[vertex] = max((out[low] + 1 for low in graph.pred[vertex]), default=0)
    return out


def _below(graph: nx.DiGraph[Vertex], switch: Vertex, owner: Mapping[Vertex, int]) -> Counter[int]:
    """Group of the tier below → links from it to ``switch``."""
    out: Counter[int] = Counter()
    for low in graph.pred[switch]:
        out[owner[low]] += graph.succ[low][switch]["links"]
    return out


def _merged(
    graph: nx.DiGraph[Vertex], groups: Sequence[_Group], cluster: Mapping[Hashable, Hashable], links: Mapping[int, Counter[Hashable]]
) -> tuple[list[_Group], dict[int, int], dict[Hashable, int]]:
    """(groups of the next tier, old → new, cluster → new): each goes under the cluster that most of its links lead to; under none it stays."""
    members: dict[Hashable, list[Vertex]] = {}
    for switch, root in cluster.items():
        members.setdefault(root, []).append(switch)  # type: ignore[arg-type]
    names = _names({root: [graph.nodes[s]["name"] for s in some] for root, some in members.items()})
    new: dict[Hashable, int] = {}
    out: list[_Group] = []
    home: dict[int, int] = {}
    for old, group in enumerate(groups):
        root = links[old].most_common(1)[0][0] if old in links else None
        if root is None:
            home[old] = len(out)
            out.append(_Group(list(group.hosts), group.name, group.Bps))
            continue
        if root not in new:
            new[root] = len(out)
            out.append(_Group([], names[root], _leaving(graph, members[root])))
        home[old] = new[root]
        out[new[root]].hosts += group.hosts
    return out, home, new


def _names(members: Mapping[Hashable, Sequence[str]]) -> dict[Hashable, str]:
    """Cluster → a name: what its switches have in common, or from the first to the last where that is said of several."""
    short = {root: common(names) for root, names in members.items()}
    times = Counter(short.values())
    return {root: name if times[name] == 1 else span(members[root]) for root, name in short.items()}


def _leaving(graph: nx.DiGraph[Vertex], switches: Sequence[Vertex]) -> float:
    """Bytes per second from these switches upwards; infinite where nothing is above or no speed was told."""
    rates = [edge["Bps"] for switch in switches for edge in graph.succ[switch].values()]
    return sum(rates) if rates else math.inf


def _uneven(wiring: Wiring, hosts: Sequence[Vertex], below: Mapping[Hashable, Counter[int]], cluster: Mapping[Hashable, Hashable], links: Mapping[int, Counter[Hashable]]) -> list[Diagnostic]:
    """Hosts with a cable to the leaves of another group, and hosts on fewer leaves than most of their group."""
    across = [hosts[i].id for i, of in links.items() if len(of) > 1]
    leaves: Counter[int] = Counter()
    for switch, of_switch in below.items():
        leaves.update(i for i in of_switch if links[i].most_common(1)[0][0] == cluster[switch])
    usual: dict[Hashable, Counter[int]] = {}
    for i, of in links.items():
        usual.setdefault(of.most_common(1)[0][0], Counter())[leaves[i]] += 1
    fewer = [hosts[i].id for i, of in links.items() if leaves[i] < usual[of.most_common(1)[0][0]].most_common(1)[0][0] and len(of) == 1]
    out = []
    if across:
        words = f"{len(across)} hosts have cables to the leaves of more than one group, and are counted where most lead: {some(sorted(across, key=natural))}"
        out.append(finding("uneven-rails", words, wiring.file))
    if fewer:
        words = f"{len(fewer)} hosts are on fewer leaves than most beside them: {some(sorted(fewer, key=natural))}"
        out.append(finding("uneven-rails", words, wiring.file))
    return out


def _ordered(wiring: Wiring, graph: nx.DiGraph[Vertex], hosts: Sequence[Vertex], tiers: Sequence[Sequence[_Group]], words: tuple[str, ...]) -> Hierarchy:
    """The same with hosts and groups in the order of their names, from the top down, whatever the order of the file."""
    of = np.zeros((len(tiers), len(hosts)), dtype=np.int64)
    for k, groups in enumerate(tiers):
        for g, group in enumerate(groups):
            of[k, group.hosts] = g
    keys = [[(natural(group.name), min(group.hosts)) for group in groups] for groups in tiers]
    order = sorted(range(len(hosts)), key=lambda i: [keys[k][of[k, i]] for k in reversed(range(len(tiers)))] + [((), i)])
    labels, names, rates = np.zeros_like(of), [], []
    taken: dict[str, list[int]] = {}
    for k, groups in enumerate(tiers):
        first = list(dict.fromkeys(int(of[k, i]) for i in order))
        place = {g: n for n, g in enumerate(first)}
        labels[k] = [place[int(of[k, i])] for i in order]
        names.append(tuple(_named(groups[g], taken) for g in first))
        rates.append(np.array([groups[g].Bps for g in first]))
    listed = tuple(hosts[i].id for i in order)
    domains, gpus = (tuple(told.get(host) for host in listed) for told in (wiring.domains, wiring.gpus))
    return Hierarchy(wiring.name, listed, words, tuple(names), labels, tuple(rates), _usual_Bps(graph, hosts), domains if any(domains) else (), gpus if any(gpus) else ())


def _usual_Bps(graph: nx.DiGraph[Vertex], hosts: Sequence[Vertex]) -> float | None:
    """Bytes per second of the adapters of most hosts, of equally many the lower; None where a speed is not told."""
    rates = Counter(sum(edge["Bps"] for edge in graph.succ[host].values()) for host in hosts)
    rate = min(rates, key=lambda Bps: (-rates[Bps], Bps))
    return rate if math.isfinite(rate) else None


def _named(group: _Group, taken: dict[str, list[int]]) -> str:
    """The name of a group, with a number behind it where another has it: only a group that stays as it is keeps its name from tier to tier."""
    name, n = group.name, 1
    while name in taken and taken[name] != sorted(group.hosts):
        n += 1
        name = f"{group.name[:58]}-{n}"
    taken[name] = sorted(group.hosts)
    return name


def _distinct(names: Sequence[str]) -> list[str]:
    """Each name once; what comes again gets a number."""
    times: Counter[str] = Counter()
    out = []
    for name in names:
        times[name] += 1
        out.append(name if times[name] == 1 else f"{name}-{times[name]}")
    return out
