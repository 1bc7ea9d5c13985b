"""Where virtual nodes lie and what that cuts, as booleans of an integer program.

"Node v lies in set S", for bins and switch groups, is exact. "The edge from u to v leaves S" is only kept from being false when it does:
every cost rises with what is cut, so that a solver has no use for a cut that is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iacgen.placement.bins import Bins
from iacgen.training.traffic import NodeGrid

Set = tuple[int, ...]
"""Bins, rising."""
Edge = tuple[int, int]
Literal = Any


class Cuts:
    """The booleans over a CP-SAT ``model``; each is made when it is first asked for.

    ``tiers[k]``: the bins of each switch group of tier k that has any. ``lies[b][v]``: whether virtual node v lies in bin b.
    """

    def __init__(self, model: Any, held: Bins, grid: NodeGrid):
        self.model, self.held, self.grid = model, held, grid
        self.tiers: list[dict[int, Set]] = [{int(g): _where(labels == g) for g in np.unique(labels)} for labels in held.labels]
        self.domains: dict[int, Set] = {int(d): _where(held.domain == d) for d in np.unique(held.domain)}
        self.lies: list[list[Literal]] = [[model.new_bool_var("") for _ in range(grid.nodes)] for _ in held.hosts]
        self._within: dict[Set, list[Literal]] = {(b,): row for b, row in enumerate(self.lies)}
        self._near: dict[Edge, Literal] = {}
        self._leaves: dict[tuple[Edge, Set], Literal] = {}
        self._cut: dict[tuple[Edge, Set], Literal] = {}
        self._goes: dict[tuple[Edge, Set, Set], Literal] = {}
        self._steps: dict[tuple[Set, tuple[int, ...]], list[Literal]] = {}
        self._whole: dict[tuple[Set, tuple[int, ...]], Literal] = {}
        self._assign()

    def _assign(self) -> None:
        """Every node in one bin, no bin over its hosts, the earlier of two twins no emptier, tensor groups in one domain each."""
        for v in range(self.grid.nodes):
            self.model.add_exactly_one(row[v] for row in self.lies)
        for row, size in zip(self.lies, self.held.sizes.tolist(), strict=True):
            self.model.add(sum(row) <= size)
        for later, earlier in self.held.twins:
            self.model.add(sum(self.within(later)) <= sum(self.within(earlier)))
        tensor = self.grid.tensor
        for v, (domain, members) in product(range(self.grid.nodes if tensor > 1 else 0), self.domains.items()):
            first, own = (self.within(members)[node] for node in (v - v % tensor, v))
            self.model.add(own == (first if domain >= 0 else 0))

    def mixed(self, most: int) -> None:
        """No more than so many stages have nodes of several GPU types."""
        kinds, row = np.unique(self.held.kind), self.grid.row
        if len(kinds) == 1:
            return
        mixes = [self.model.new_bool_var("") for _ in range(self.grid.pipeline)]
        self.model.add(sum(mixes) <= most)
        for own in (self.within(_where(self.held.kind == kind)) for kind in kinds):
            for v, after in ((v, v + 1) for v in range(self.grid.nodes) if (v + 1) % row):
                self.model.add_bool_or([own[v].negated(), own[after], mixes[v // row]])
                self.model.add_bool_or([own[v], own[after].negated(), mixes[v // row]])

    def within(self, members: Set) -> list[Literal]:
        """Of each node, whether it lies in one of these bins."""
        members = tuple(sorted(members))
        if members not in self._within:
            row = [self.model.new_bool_var("") for _ in range(self.grid.nodes)]
            for v, inside in enumerate(row):
                self.model.add(sum(self.lies[b][v] for b in members) == inside)
            self._within[members] = row
        return self._within[members]

    def near(self, edge: Edge) -> Literal:
        """True only when both ends lie in one NVLink domain of several hosts."""
        edge = min(edge), max(edge)
        if edge not in self._near:
            near = self._near[edge] = self.model.new_bool_var("")
            for domain, members in self.domains.items():
                one, other = (self.within(members)[v] for v in edge)
                if domain < 0:
                    self.model.add_implication(near, one.negated())
                else:
                    self.model.add_bool_or([near.negated(), one.negated(), other])
                    self.model.add_bool_or([near.negated(), one, other.negated()])
        return self._near[edge]

    def split(self, members: Set) -> bool:
        """Whether some NVLink domain lies partly in the set."""
        return any(domain >= 0 and 0 < len(set(members) & set(own)) < len(own) for domain, own in self.domains.items())

    def leaves(self, edge: Edge, members: Set) -> Literal:
        """True when the edge goes from a node in the set to one outside, and not over NVLink."""
        key = edge, members
        if key not in self._leaves:
            cut, row = self.model.new_bool_var(""), self.within(members)
            over = [self.near(edge)] if self.split(members) else []
            self.model.add_bool_or([row[edge[0]].negated(), row[edge[1]], cut, *over])
            self._leaves[key] = cut
        return self._leaves[key]

    def cut(self, edge: Edge, members: Set) -> Literal:
        """True when just one end lies in the set, and the edge does not take NVLink."""
        key = (min(edge), max(edge)), members
        if key not in self._cut:
            self._cut[key] = self.model.new_bool_var("")
            for way in permutations(edge):
                self.model.add_implication(self.leaves(way, members), self._cut[key])
        return self._cut[key]

    def goes(self, edge: Edge, start: Set, end: Set) -> Literal:
        """True when the edge goes from a node in the one set to one in the other, and not over NVLink."""
        key = edge, start, end
        if key not in self._goes:
            self._goes[key] = self.model.new_bool_var("")
            over = [self.near(edge)] if self.split(start) else []
            self.model.add_bool_or([self.within(start)[edge[0]].negated(), self.within(end)[edge[1]].negated(), self._goes[key], *over])
        return self._goes[key]

    def steps(self, members: Set, nodes: Iterable[int]) -> list[Literal]:
        """Whether at least one, at least two, ... of the nodes lie in the set."""
        key = members, tuple(nodes)
        if key not in self._steps:
            steps = self._steps[key] = [self.model.new_bool_var("") for _ in key[1]]
            self.model.add(sum(steps) == sum(self.within(members)[v] for v in key[1]))
            for more, fewer in zip(steps[1:], steps, strict=False):
                self.model.add_implication(more, fewer)
        return self._steps[key]

    def whole(self, groups: list[list[int]], sets: Iterable[Set], unless: Literal) -> None:
        """Each group lies in one of the sets, as many in each as have room, unless that literal is true. It follows from what is cut; but that
        five groups of four do not fit whole into four sets of six, a solver that learns from conflicts does not see by itself."""
        kept: list[list[Literal]] = [[] for _ in groups]
        for members in sets:
            row = self.within(members)
            held = [self.model.new_bool_var("") for _ in groups]
            self.model.add(sum(held) <= int(self.held.sizes[list(members)].sum()) // len(groups[0]))
            for group, literal, ways in zip(groups, held, kept, strict=True):
                ways.append(literal)
                self._whole[members, tuple(group)] = literal
                for v in group:
                    self.model.add_implication(literal, row[v])
        for ways in kept:
            self.model.add_bool_or([*ways, unless])

    def hint(self, assigned: NDArray[np.int64]) -> None:
        """Tell the solver an assignment to begin with, and what it cuts."""
        assigned = self.held.settled(assigned)
        domain = self.held.domain[assigned]

        def near(u: int, v: int) -> bool:
            return bool(domain[u] == domain[v] >= 0)

        def away(edge: Edge, members: Set) -> bool:
            return assigned[edge[0]] in members and assigned[edge[1]] not in members and not near(*edge)

        said = [(row[v], at in members) for members, row in self._within.items() for v, at in enumerate(assigned)]
        said += [(literal, near(*edge)) for edge, literal in self._near.items()]
        said += [(literal, away(edge, members)) for (edge, members), literal in self._leaves.items()]
        said += [(literal, away(edge, members) or away(edge[::-1], members)) for (edge, members), literal in self._cut.items()]
        said += [(literal, away(edge, start) and assigned[edge[1]] in end) for (edge, start, end), literal in self._goes.items()]
        said += [(step, j < sum(assigned[v] in members for v in nodes)) for (members, nodes), steps in self._steps.items() for j, step in enumerate(steps)]
        said += [(literal, all(assigned[v] in members for v in group)) for (members, group), literal in self._whole.items()]
        for literal, value in said:
            self.model.add_hint(literal, bool(value))


def _where(bins: NDArray[np.bool_]) -> Set:
    return tuple(np.flatnonzero(bins).tolist())
