"""The least communication cost of any placement, whichever hosts stay idle, found by counting.

Let L say for each family the highest tier that any of its traffic crosses. Whatever a placement is, it has some L; and given L:

* no flow of a family is slower than the least for its level (``families``), and above that level its groups lie whole in the sets of
  each tier, so that a set holds a multiple of them;
* a set of n nodes leaves x rows and y columns cut (``grid``), and each cut row has a ring, each cut column a chain, that goes out;
* of a column that lies in m sets, m - 1 edges or more are cut, and each is counted in two sets: stages in the middle go out twice;
* the sets of one tier hold all nodes of the job.

The bound is the least over L of the largest over tiers of the least time at which the sets of the tier can hold the job.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import lcm

import numpy as np

from iacgen.training.traffic import NodeGrid, Traffic

from ..assumptions import EXPOSED
from ..model import FAMILIES, Bound, Family
from ..tiers import Tiers
from .families import Kin, kin
from .holding import Holding, least_time
from .sets import Cut, cuts

_EXACT = 1e-9


def lower_bound(tiers: Tiers, grid: NodeGrid, traffic: Traffic, exposed: Mapping[Family, float] = EXPOSED) -> Bound:
    """A time that no placement beats, and what sets it. Raises ValueError when the hosts are too few."""
    if tiers.hosts < grid.nodes:
        raise ValueError(f"{grid.nodes} virtual nodes on {tiers.hosts} hosts")
    sets = cuts(tiers)
    families = kin(tiers, sets, grid, traffic, exposed)
    combinations = sorted((sum(f.weight * f.slow_s[level] for f, level in zip(families, levels, strict=True)), levels) for levels in product(range(len(sets) + 1), repeat=len(families)))
    best = Bound(np.inf, None, None, "nothing fits")
    for base, levels in combinations:
        if base >= best.seconds:
            break
        best = min(best, _given(sets, grid, traffic, families, levels, base, best.seconds), key=lambda b: b.seconds)
    return best


def _given(sets: tuple[Cut, ...], grid: NodeGrid, traffic: Traffic, families: tuple[Kin, ...], levels: tuple[int, ...], base: float, limit: float) -> Bound:
    """The bound for placements of these levels, looked for no farther than ``limit``."""
    crossed = max(levels, default=0)
    best = Bound(base, sets[crossed - 1].tier if crossed else None, None, _flows(sets, families, levels))
    for k, cut in enumerate(sets):
        found = least_time(_holding(grid, traffic, families, levels, k), cut, base, limit)
        if found.seconds > best.seconds * (1 + _EXACT):
            best = Bound(found.seconds, cut.tier, found.switch, found.why)
        if best.seconds >= limit:
            break
    return best


def _holding(grid: NodeGrid, traffic: Traffic, families: tuple[Kin, ...], levels: tuple[int, ...], k: int) -> Holding:
    level = {f.name: at for f, at in zip(families, levels, strict=True)}
    inside = {f.name for f in families if level[f.name] <= k}
    unit = grid.row if {"dp", "fs"} <= inside else lcm(grid.tensor, *(f.together for f in families if f.name in inside))
    by_name = {f.name: f for f in families}
    slow = {name: f.slow_s[level[name]] for name, f in by_name.items()}
    return Holding(grid, unit, "pp" in inside, frozenset(inside), {n: f.volume for n, f in by_name.items()}, {n: f.weight for n, f in by_name.items()}, slow, traffic.pipeline_ring and grid.pipeline > 2)


def _flows(sets: tuple[Cut, ...], families: tuple[Kin, ...], levels: tuple[int, ...]) -> str:
    inside = f"inside {'an' if sets and sets[0].tier.startswith(('NV', 'a', 'e', 'i', 'o')) else 'a'} {sets[0].tier if sets else ''}"
    words = [f"{FAMILIES[f.name]} {f'from {sets[level - 1].tier} to {sets[level - 1].tier}' if level else inside}" for f, level in zip(families, levels, strict=True)]
    return f"the rate of one host's flows, {', '.join(words)}" if words else "no traffic leaves a host"
