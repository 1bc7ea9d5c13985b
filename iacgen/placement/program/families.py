"""What cuts cost, family by family, as linear inequalities: the words of ``cost`` once more, for a solver.

Time is counted in whole units of ``unit_s`` seconds. Each coefficient is rounded down (up where it is taken away), and so the program's
objective is never above the cost of the placement it stands for: what the solver proves of the one is true of the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations, permutations, product
from typing import Any

import numpy as np

from iacgen.placement.bins import Bins
from iacgen.placement.model import Family
from iacgen.placement.spans import rings
from iacgen.placement.tiers import Tiers
from iacgen.training.traffic import NodeGrid, Traffic

from .counted import count_rows_and_columns
from .cuts import Cuts, Edge, Literal, Set



class Program:
    """The least communication cost over all placements that take no more than ``longest`` units, on a CP-SAT ``model``.

    ``cuts.lies[b][v]`` is the answer: whether node v lies in bin b.
    """

    def __init__(self, model: Any, tiers: Tiers, held: Bins, grid: NodeGrid, traffic: Traffic, exposed: Mapping[Family, float], unit_s: float, longest: int):
        self.model, self.tiers, self.unit_s, self.longest, self.exposed = model, tiers, unit_s, longest, exposed
        self.cuts = Cuts(model, held, grid)
        self.time: dict[Family, Any] = {}
        self._busiest: dict[tuple[Family, float], Any] = {}
        self._domains = [members for domain, members in self.cuts.domains.items() if domain >= 0]
        nodes = np.arange(grid.nodes)
        if traffic.data and grid.copies > 1:
            self._rings("dp", traffic.data, rings(grid.nodes, grid.copies, grid.apart).tolist())
        if traffic.pipeline and grid.pipeline > 1:
            self._columns(traffic.pipeline, nodes.reshape(grid.pipeline, -1).T.tolist(), traffic.pipeline_ring and grid.pipeline > 2)
        if traffic.context and grid.context > 1:
            self._rings("cp", traffic.context, rings(grid.nodes, grid.context, grid.tensor).tolist())
        if traffic.shard and grid.shard > 1:
            self._rings("fs", traffic.shard, rings(grid.nodes, grid.shard, grid.tensor).tolist())
        if traffic.expert and grid.expert > 1:
            self._all_to_all(traffic.expert, nodes.reshape(-1, grid.expert).tolist())
        if {"dp", "pp"} <= self.time.keys() and grid.shard == 1:  # rings between shard groups say less of rows
            count_rows_and_columns(self.cuts)
        model.minimize(sum(self.time.values()))

    def _least(self, family: Family, seconds: float, times: Any = 1, when: Literal | None = None) -> None:
        """The family takes no less than so many seconds x ``times``, where ``when`` is true."""
        if family not in self.time:
            self.time[family] = self.model.new_int_var(0, self.longest, family)
        atom = self.model.add(self.time[family] >= self._units(family, seconds) * times)
        if when is not None:
            atom.only_enforce_if(when)

    def _units(self, family: Family, seconds: float) -> int:
        return int(self.exposed[family] * seconds / self.unit_s)

    def _load(self, family: Family, volume: float, link_Bps: float, count: Any) -> None:
        """``count`` times ``volume`` bytes go over a link. Links of one rate share the count of the busiest."""
        key, units = (family, float(link_Bps)), self._units(family, volume / link_Bps)
        if not units:
            return
        if key not in self._busiest:
            self._busiest[key] = self.model.new_int_var(0, self.longest // units, "")
            self._least(family, volume / link_Bps, self._busiest[key])
        self.model.add(self._busiest[key] >= count)

    def _between(self, family: Family, volume: float, edges: list[Edge]) -> None:
        """The bytes from each group of the top tier to each, where these are joined two by two, and over each link, where links are known."""
        if self.tiers.pair_Bps is not None:
            for (g, start), (h, end) in permutations(self.cuts.tiers[-1].items(), 2):
                self._load(family, volume, float(self.tiers.pair_Bps[g, h]), sum(self.cuts.goes(edge, start, end) for edge in edges))
        ways = self.tiers.ways
        if ways is None:
            return
        over: dict[int, list[Any]] = {}
        for (a, start), (b, end) in permutations(self.cuts.tiers[0].items(), 2):
            sent = self.model.new_int_var(0, len(edges), "")
            self.model.add(sent >= sum(self.cuts.goes(edge, start, end) for edge in edges))
            for entry in np.flatnonzero(ways.pair == a * ways.leaves + b).tolist():
                over.setdefault(int(ways.link[entry]), []).append(self._units(family, volume * ways.share[entry] / ways.Bps) * sent)
        for loads in over.values():
            self.model.add(self.time[family] >= sum(loads))

    def _rings(self, family: Family, volume: float, rings: list[list[int]]) -> None:
        """Members that NVLink joins share their adapters: the ring with the most edges between domains is the slowest."""
        size, flow = len(rings[0]), self.tiers.flow_Bps.tolist()
        edges = [list(zip(ring, ring[1:] + ring[:1], strict=True)) for ring in rings]
        far: Any = size
        if self._domains:
            far = self.model.new_int_var(0, size, "")
            for ring in edges:
                self.model.add(far >= sum(1 - self.cuts.near(edge) for edge in ring))
            apart = self.model.new_bool_var("")
            self.model.add(far >= 2).only_enforce_if(apart)
            self.cuts.whole(rings, self._domains, apart)
        self._least(family, volume / self.tiers.nvlink_Bps)
        self._least(family, volume / flow[0] / size, far)
        for k, sets in enumerate(self.cuts.tiers):
            crossed = self.model.new_bool_var("")
            self._least(family, volume / flow[k + 1] / size, far, crossed)
            self._whole(rings, sets.values(), crossed)
            for g, members in sets.items():
                out = [self.cuts.leaves(edge, members) for ring in edges for edge in ring]
                self._any(out, crossed)
                self._load(family, volume, self.tiers.uplink_Bps[k][g], sum(out))
        self._between(family, volume, [edge for ring in edges for edge in ring])

    def _whole(self, groups: list[list[int]], sets: Iterable[Set], crossed: Literal) -> None:
        if not any(self.cuts.split(members) for members in sets):
            self.cuts.whole(groups, sets, crossed)

    def _columns(self, volume: float, columns: list[list[int]], closed: bool) -> None:
        flow, edges = self.tiers.flow_Bps.tolist(), [edge for c in columns for edge in zip(c, c[1:] + c[: int(closed)], strict=False)]
        self._least("pp", volume / self.tiers.nvlink_Bps)
        far = self.model.new_bool_var("")
        self._least("pp", volume / flow[0], when=far)
        for edge in edges:
            self.model.add_bool_or([far, self.cuts.near(edge)] if self._domains else [far])
        for k, sets in enumerate(self.cuts.tiers):
            crossed = self.model.new_bool_var("")
            self._least("pp", volume / flow[k + 1], when=crossed)
            for g, members in sets.items():
                cut = [self.cuts.cut(edge, members) for edge in edges]
                self._any(cut, crossed)
                self._load("pp", volume, self.tiers.uplink_Bps[k][g], sum(cut))
        self._between("pp", volume, [way for edge in edges for way in permutations(edge)])

    def _any(self, literals: Iterable[Literal], one: Literal) -> None:
        for literal in literals:
            self.model.add_implication(literal, one)

    def _all_to_all(self, volume: float, groups: list[list[int]]) -> None:
        """By counts of members, where no NVLink domain lies in several switch groups; else pair by pair."""
        size = len(groups[0])
        share = volume / (size - 1)
        if self._domains:
            apart, beyond = self.model.new_bool_var(""), -(-size // 2)  # the smallest part has so many peers in the others
            self._least("ep", share * (beyond / self.tiers.flow_Bps[0] + (size - 1 - beyond) / self.tiers.nvlink_Bps), when=apart)
            self.cuts.whole(groups, self._domains, apart)
        if any(self.cuts.split(members) for sets in self.cuts.tiers for members in sets.values()):
            self._pairs(share, groups)
        else:
            self._counts(share, groups)
        self._between("ep", share, [way for group in groups for way in permutations(group, 2)])

    def _counts(self, share: float, groups: list[list[int]]) -> None:
        """Of m members in a set, m x (size - m) pairs leave it. A member's time falls with each peer that is nearer than the top."""
        size, flow, cuts = len(groups[0]), self.tiers.flow_Bps.tolist(), self.cuts
        for k, sets in enumerate(cuts.tiers):
            crossed, beyond = self.model.new_bool_var(""), -(-size // 2)  # as above
            nearest = self.tiers.nvlink_Bps if self._domains else flow[0]
            self._least("ep", share * (beyond / flow[k + 1] + (size - 1 - beyond) / nearest), when=crossed)
            self._whole(groups, sets.values(), crossed)
            for g, members in sets.items():
                pairs = [(size - 2 * j - 1) * step for group in groups for j, step in enumerate(cuts.steps(members, group))]
                self._load("ep", share, self.tiers.uplink_Bps[k][g], sum(pairs))
        for b, domain in enumerate(self.cuts.held.domain.tolist()):
            gains = [(members, 1 / flow[k + 1] - 1 / flow[k]) for k, sets in enumerate(cuts.tiers) for members in sets.values() if b in members]
            gains += [(cuts.domains[domain], 1 / flow[0] - 1 / self.tiers.nvlink_Bps)] if domain >= 0 else []
            for group in groups:
                nearer = sum((sum(cuts.steps(members, group)) - 1) * (self._units("ep", share * gain) + 1) for members, gain in gains)
                atom = self.model.add(self._ep() >= self._units("ep", share * (size - 1) / flow[-1]) - nearer)
                atom.only_enforce_if(cuts.steps((b,), group)[0])

    def _ep(self) -> Any:
        self._least("ep", 0.0)
        return self.time["ep"]

    def _pairs(self, share: float, groups: list[list[int]]) -> None:
        flow, cuts, tiers = self.tiers.flow_Bps.tolist(), self.cuts, range(len(self.cuts.tiers))
        slower = [self._units("ep", share * (1 / far - 1 / near)) for near, far in zip([self.tiers.nvlink_Bps, *flow], flow, strict=False)]
        ways = [way for group in groups for way in permutations(group, 2)]
        apart = {(k, *pair): self.model.new_bool_var("") for k in tiers for group in groups for pair in combinations(group, 2)}
        for k, sets in enumerate(cuts.tiers):
            for g, members in sets.items():
                for way in ways:
                    self.model.add_implication(cuts.leaves(way, members), apart[k, min(way), max(way)])
                self._load("ep", share, self.tiers.uplink_Bps[k][g], sum(cuts.leaves(way, members) for way in ways))
        for group, v in ((group, v) for group in groups for v in group):
            peers = [(min(v, w), max(v, w)) for w in group if w != v]
            far = slower[0] * sum(1 - cuts.near(pair) for pair in peers)
            farther = sum(slower[k + 1] * apart[k, *pair] for k, pair in product(tiers, peers))
            self.model.add(self._ep() >= len(peers) * self._units("ep", share / self.tiers.nvlink_Bps) + far + farther)
