"""METIS and Scotch as placers: the job's traffic as a graph, cut along the switches of hosts that somebody else selected.

Both minimise bytes over cut edges and know nothing of rings, phases or rates; neither selects hosts. METIS cuts the graph tier by tier,
pods first, with the hosts of each group as target weights; Scotch maps it at once onto a tree of which the hosts are some leaves.
What they leave too full is made to fit, one node at a time, where that costs the fewest bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from iacgen.placement.tiers import Tiers
from iacgen.training.traffic import NodeGrid, Traffic
from iacgen.verify.process import run

Divide = Callable[[list[int], dict[int, int], int], dict[int, int]]
"""(vertices, group → its hosts, level) → group of each vertex."""
HEAVIEST = 1_000_000  # weight of the heaviest edge: the programs count in integers


@dataclass(frozen=True)
class Graph:
    """``near[v]``: neighbours of virtual node v, each with the weight of the edge."""

    near: tuple[dict[int, int], ...]

    def part(self, vertices: list[int]) -> list[dict[int, int]]:
        """These vertices alone, numbered from 0 in the order given."""
        number = {v: i for i, v in enumerate(vertices)}
        return [{number[w]: weight for w, weight in self.near[v].items() if w in number} for v in vertices]


def graph(grid: NodeGrid, traffic: Traffic, exposed: dict[str, float]) -> Graph:
    """Exposed bytes between each two virtual nodes, both ways together, as whole numbers."""
    weight: dict[tuple[int, int], float] = {}

    def add(a: int, b: int, size: float) -> None:
        if a != b and size:
            key = (min(a, b), max(a, b))
            weight[key] = weight.get(key, 0.0) + size

    row = grid.row
    for v in range(grid.nodes):
        r = v % row
        add(v, v - r + (r + 1) % row, exposed["dp"] * traffic.data)
        c = r % grid.context
        add(v, v - c + (c + 1) % grid.context, exposed["cp"] * traffic.context)
        if v + row < grid.nodes or traffic.pipeline_ring and grid.pipeline > 2:
            add(v, (v + row) % grid.nodes, exposed["pp"] * 2 * traffic.pipeline)
    for first in range(0, grid.nodes, grid.expert):
        for a, b in combinations(range(first, first + grid.expert), 2):
            add(a, b, exposed["ep"] * 2 * traffic.expert / (grid.expert - 1))
    scale = HEAVIEST / max(weight.values())
    near: tuple[dict[int, int], ...] = tuple({} for _ in range(grid.nodes))
    for (a, b), size in weight.items():
        near[a][b] = near[b][a] = max(1, round(size * scale))
    return Graph(near)


def by_metis(program: Path, folder: Path, tiers: Tiers, job: Graph, hosts: np.ndarray, way: str = "kway") -> np.ndarray:
    """Order of these hosts by gpmetis, cut by cut; ``way`` is "kway" or "rb", recursive bisection."""

    def divide(vertices: list[int], rooms: dict[int, int], level: int) -> dict[int, int]:
        near, groups = job.part(vertices), sorted(rooms)
        edges = sum(map(len, near)) // 2
        lines = [f"{len(near)} {edges} 001", *(" ".join(f"{w + 1} {weight}" for w, weight in sorted(some.items())) for some in near)]
        (folder / "job.graph").write_text("\n".join(lines) + "\n")
        (folder / "weights").write_text("".join(f"{i} = {rooms[g] / len(vertices):.9f}\n" for i, g in enumerate(groups)))
        done = run((program, f"-ptype={way}", "-seed=1", "-ufactor=1", "-tpwgts=weights", "job.graph", str(len(groups))), cwd=folder, timeout=120)
        assert done.ok, done.out + done.err
        parts = (folder / f"job.graph.part.{len(groups)}").read_text().split()
        return {v: groups[int(part)] for v, part in zip(vertices, parts, strict=True)}

    return _lay(tiers, job, hosts, divide)


def by_scotch(program: Path, folder: Path, tiers: Tiers, job: Graph, hosts: np.ndarray) -> np.ndarray:
    """Order of these hosts by gmap onto those leaves of a complete tree where they are."""
    levels = _levels(tiers)[:, hosts]
    seats, sizes = _seats(levels)
    costs = [10 ** (len(sizes) - 1 - i) for i in range(len(sizes))]
    (folder / "tree.tgt").write_text(f"sub\n{len(hosts)} {' '.join(map(str, sorted(seats)))}\ntleaf {len(sizes)} " + " ".join(f"{n} {c}" for n, c in zip(sizes, costs, strict=True)) + "\n")
    arcs = sum(map(len, job.near))
    lines = ["0", f"{len(job.near)} {arcs}", "0 010", *(f"{len(some)} " + " ".join(f"{weight} {w}" for w, weight in sorted(some.items())) for some in job.near)]
    (folder / "job.grf").write_text("\n".join(lines) + "\n")
    for imbalance in ("0", "0.01"):  # no imbalance maps best, but where groups differ in size gmap 7.0 may crash or hang on it
        done = run((program, f"-b{imbalance}", "-Cf", "job.grf", "tree.tgt", "job.map"), cwd=folder, timeout=15)
        if done.ok:
            break
    assert done.ok, f"gmap ended with {done.code}: {done.err}"
    host_at = [i for _, i in sorted(zip(seats, range(len(seats)), strict=True))]  # gmap numbers the processors of a part in their order
    mapped = [tuple(map(int, line.split())) for line in (folder / "job.map").read_text().splitlines()[1:]]
    host_of = {vertex: host_at[processor] for vertex, processor in mapped}
    return _lay(tiers, job, hosts, lambda vertices, rooms, level: {v: int(levels[level, host_of[v]]) for v in vertices})


def _levels(tiers: Tiers) -> np.ndarray:
    """Groups of every host from the top tier down to the NVLink domain, where one joins several hosts."""
    down = tiers.labels[::-1]
    return down if tiers.domain is None else np.vstack([down, tiers.domain[None]])


def _seats(levels: np.ndarray) -> tuple[list[int], list[int]]:
    """Number of each host among the leaves of the smallest complete tree that holds all, and how many children its vertices have by level."""
    path: list[list[int]] = []
    children: dict[tuple[int, ...], dict[int, int]] = {}
    for h, groups in enumerate(levels.T.tolist()):
        steps: list[int] = []
        for group in (*groups, -1 - h):
            known = children.setdefault(tuple(steps), {})
            steps.append(known.setdefault(group, len(known)))
        path.append(steps)
    sizes = [max(len(known) for steps, known in children.items() if len(steps) == depth) for depth in range(len(levels) + 1)]
    return [int(np.ravel_multi_index(steps, sizes)) for steps in path], [n for n in sizes if n > 1]  # gmap wants no level of one


def _lay(tiers: Tiers, job: Graph, hosts: np.ndarray, divide: Divide) -> np.ndarray:
    """Hosts in order of the virtual nodes, divided from the top down; hosts below one lowest group follow each other as the nodes do."""
    levels, order = _levels(tiers), np.empty(len(hosts), dtype=np.int64)

    def below(vertices: list[int], some: list[int], level: int) -> None:
        if level == len(levels):
            order[vertices] = some
            return
        at: dict[int, list[int]] = {}
        for host in some:
            at.setdefault(int(levels[level, host]), []).append(host)
        rooms = {group: len(members) for group, members in at.items()}
        group_of = divide(vertices, rooms, level) if len(rooms) > 1 else dict.fromkeys(vertices, next(iter(rooms)))
        _fit(job, group_of, rooms)
        for group, members in at.items():
            below([v for v in vertices if group_of[v] == group], members, level + 1)

    below(list(range(len(hosts))), sorted(hosts.tolist()), 0)
    return order


def _fit(job: Graph, group_of: dict[int, int], rooms: dict[int, int]) -> None:
    """Move nodes out of groups that are too full, or are none of these, into those with room: each time the move that gains most bytes."""
    left = dict(rooms)
    for group in group_of.values():
        left[group] = left.get(group, 0) - 1  # a group that is none of these has no room
    while moves := [v for v, group in group_of.items() if left[group] < 0]:
        free = [group for group, room in left.items() if room > 0]

        def gain(v: int, group: int) -> int:
            return sum(weight if group_of.get(w) == group else -weight if group_of.get(w) == group_of[v] else 0 for w, weight in job.near[v].items())

        _, v, group = max((gain(v, group), -v, group) for v in moves for group in free)
        left[group_of[-v]] += 1
        left[group] -= 1
        group_of[-v] = group
