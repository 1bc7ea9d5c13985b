"""Hosts, switches and what joins them, as one source tells it: a networkx graph that knows which end of a link is nearer to the hosts."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ..diagnostics import Diagnostic
from ..diagnostics.printable import printable
from .found import counted, finding, some

if TYPE_CHECKING:
    import networkx as nx

MOST_HOSTS = 200_000
_HOST = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9_])?", re.ASCII)
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+", re.ASCII)
LONGEST_SWITCH = 64  # characters; Slurm 24.11 takes no longer name of a switch
_SYSTEM = re.compile(r"MF0;([^;:]+):[^/:]+((?:/[^/]+)*)")


class Vertex(NamedTuple):
    """A host or a switch by what identifies it: a name, a GUID, a path."""

    kind: str  # "host" | "switch"
    id: str


class Wiring:
    """Built by a source, then collapsed.

    ``graph`` is a DiGraph whose edges lead from the hosts upwards, with ``links`` (how many) and ``Bps`` (bytes per second of all of
    them, one direction; infinite where not told). ``cables`` are links between switches of which the source does not say which end is the
    upper one. ``words`` name the tiers from the hosts upwards, where the source has names for them.
    """

    def __init__(self, name: str, file: str, names: Mapping[str, str] | None = None) -> None:
        import networkx as nx

        self.name, self.file = name, file
        self.names = names or {}
        self.graph: nx.DiGraph[Vertex] = nx.DiGraph()
        self.cables: dict[tuple[Vertex, Vertex], tuple[int, float]] = {}
        self.domains: dict[str, str] = {}
        self.gpus: dict[str, str] = {}
        self.words: tuple[str, ...] = ()
        self.twice: dict[str, None] = {}
        self.unfit: dict[str, None] = {}
        self.nameless: dict[str, None] = {}
        self.full = False

    def host(self, said: str) -> Vertex | None:
        """The host that a source calls ``said``, by the name it is known by; None, and noted, where that is no name of a host."""
        name = self.names.get(said, said)
        vertex = Vertex("host", name)
        if vertex in self.graph:
            return vertex
        if not _HOST.fullmatch(name):
            self.unfit.setdefault(printable(name)[:255])
            return None
        if self.graph.number_of_nodes() >= 2 * MOST_HOSTS:
            self.full = True
            return None
        self.graph.add_node(vertex)
        return vertex

    def switch(self, id: str, name: str | None = None) -> Vertex:
        """The switch with this identity; a later name wins over none."""
        vertex = Vertex("switch", id)
        if vertex not in self.graph or name:
            self.graph.add_node(vertex, name=fit(name or id))
        return vertex

    def up(self, low: Vertex, high: Vertex, Bps: float = math.inf, links: int = 1) -> None:
        """A link, or several, of which ``high`` is the end away from the hosts."""
        edge = self.graph.get_edge_data(low, high)
        if edge is None:
            self.graph.add_edge(low, high, links=links, Bps=Bps)
        else:
            edge["links"] += links
            edge["Bps"] += Bps

    def cable(self, a: Vertex, b: Vertex, Bps: float = math.inf) -> None:
        """A link of which nobody says which end is the upper one; between hosts it tells nothing about switches and is left out."""
        if a.kind == "host" or b.kind == "host":
            if a.kind != b.kind:
                self.up(*((a, b) if a.kind == "host" else (b, a)), Bps)
            return
        key = (a, b) if a <= b else (b, a)
        links, sum_Bps = self.cables.get(key, (0, 0.0))
        if a != b:
            self.cables[key] = (links + 1, sum_Bps + Bps)

    def unheard(self, said: Iterable[str]) -> list[str]:
        """The hosts that have names and whose ids are none of those that a source ``said``."""
        heard = {self.names.get(id, id) for id in said}
        return [host for host in dict.fromkeys(self.names.values()) if host not in heard]

    def place(self, said: str, path: Iterable[tuple[str, str]], domain: str | None = None) -> None:
        """A host and the switches above it, the top one first, as (identity, name)."""
        host = self.host(said)
        if host is None:
            return
        if self.graph.out_degree(host):
            self.twice.setdefault(host.id)
            return
        above: Vertex | None = None
        for id, name in path:
            here = self.switch(id, name)
            if above:
                self.graph.add_edge(here, above, links=1, Bps=math.inf)
            above = here
        if above:
            self.graph.add_edge(host, above, links=1, Bps=math.inf)
        if domain:
            self.domains[host.id] = printable(domain)[:255]

    def of_type(self, said: str, gpu: str | None) -> None:
        """What a source calls the GPU, or the machine type, of a host that it calls ``said``."""
        if gpu:
            self.gpus[self.names.get(said, said)] = printable(gpu)[:255]

    def settle(self) -> tuple[tuple[str, ...], list[Diagnostic]]:
        """(hosts adrift, findings): those of two places lose both, those of none are named."""
        for name in self.twice:
            self.graph.remove_edges_from(list(self.graph.out_edges(Vertex("host", name))))
        placeless = [v.id for v in self.graph if v.kind == "host" and not self.graph.out_degree(v) and v.id not in self.twice]
        out = []
        if self.twice:
            words = f"{counted(len(self.twice), 'name stands for two hosts', 'names stand for two hosts each')}, which therefore have no place: {some(self.twice)}"
            out.append(finding("host-name-twice", words, self.file, help="give each host a name of its own, or leave one out of the file"))
        if placeless:
            words = counted(len(placeless), "host is named without a switch above it", "hosts are named without a switch above them")
            out.append(finding("host-without-place", f"{words}: {some(placeless)}", self.file))
        if self.unfit:
            words = counted(len(self.unfit), "name is no name of a host", "names are no names of hosts")
            out.append(finding("host-without-place", f"{words}: {some(self.unfit)}", self.file))
        if self.full:
            out.append(finding("topology-out-of-form", f"more than {2 * MOST_HOSTS:,} hosts and switches", self.file))
        if self.nameless:
            words = f"{counted(len(self.nameless), 'adapter does not tell its host', 'adapters do not tell their host')}: {some(self.nameless)}"
            out.append(finding("nameless-adapter", words, self.file, help="set their node descriptions, as rdma-ndd does, or give names by their GUIDs"))
        return (*placeless, *self.twice, *self.unfit, *self.nameless), out


def fit(name: str) -> str:
    """A switch's name in characters that every reader takes: letters, digits, dot, underscore, hyphen.

    ``MF0;leaf1:MQM9700/U1``, as NVIDIA's managed switches describe themselves, is leaf1. What is too long ends in a digest of the whole.
    """
    if match := _SYSTEM.fullmatch(name):
        name = match[1] + ("" if match[2] == "/U1" else match[2])
    out = _UNFIT.sub("-", name).strip("-") or "switch"
    return out if len(out) <= LONGEST_SWITCH else f"{out[: LONGEST_SWITCH - 9]}-{hashlib.sha256(name.encode(errors='replace')).hexdigest()[:8]}"
