"""What each kind of traffic takes at least, by the highest tier that any of it crosses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from iacgen.training.traffic import NodeGrid, Traffic

from ..model import Family
from ..tiers import Tiers
from .sets import Cut


@dataclass(frozen=True)
class Kin:
    """A family of a job. ``together``: consecutive nodes of a row that make one of its groups; a whole row for data rings, 1 for columns, and for
    data rings whose members are not consecutive.
    ``slow_s[L]``: least time of its slowest flow when the highest tier that it crosses is number L of the cuts, counted from 1 (0: it
    crosses none); infinite where its groups are too large for that. ``weight`` is the share that computation does not hide.
    """

    name: Family
    weight: float
    volume: float
    together: int
    slow_s: tuple[float, ...]


def kin(tiers: Tiers, cuts: tuple[Cut, ...], grid: NodeGrid, traffic: Traffic, exposed: Mapping[Family, float]) -> tuple[Kin, ...]:
    """The families that leave the node, as in ``cost``."""
    rates = [float(r) for r in tiers.flow_Bps]
    if tiers.domain is not None:
        rates = [tiers.nvlink_Bps, *rates]
    out = []
    if traffic.data and grid.copies > 1:
        out.append(Kin("dp", exposed["dp"], traffic.data, grid.row if grid.shard == 1 else 1, _rings(tiers, cuts, rates, traffic.data, grid.copies, grid.tensor)))
    if traffic.pipeline and grid.pipeline > 1:
        # A column's nodes need not be consecutive; they too must fit into one set to stay in it.
        out.append(Kin("pp", exposed["pp"], traffic.pipeline, 1, _bounded(cuts, grid.pipeline, [traffic.pipeline / rate for rate in rates])))
    if traffic.context and grid.context > 1:
        out.append(Kin("cp", exposed["cp"], traffic.context, grid.context * grid.tensor, _rings(tiers, cuts, rates, traffic.context, grid.context, grid.tensor)))
    if traffic.expert and grid.expert > 1:
        out.append(Kin("ep", exposed["ep"], traffic.expert, grid.expert, _all_to_all(cuts, rates, traffic.expert, grid.expert)))
    if traffic.shard and grid.shard > 1:
        out.append(Kin("fs", exposed["fs"], traffic.shard, grid.apart, _rings(tiers, cuts, rates, traffic.shard, grid.shard, grid.tensor)))
    return tuple(_over_links(tiers, family) for family in out)


def _over_links(tiers: Tiers, family: Kin) -> Kin:
    """Where each link of a dragonfly counts: an edge that crosses a tier takes as long as the best two leaves let it, on its busiest link."""
    if tiers.ways is None or tiers.domain is not None or family.name == "ep":
        return family
    least = [0.0, *tiers.ways.least(tiers.labels[0], tiers.labels[-1])][: len(family.slow_s)]
    return replace(family, slow_s=tuple(max(s, family.volume * share / tiers.ways.Bps) for s, share in zip(family.slow_s, least, strict=True)))


def _bounded(cuts: tuple[Cut, ...], size: int, seconds: list[float]) -> tuple[float, ...]:
    """Infinite where a group of ``size`` hosts fits into no set of the cut that it would not cross."""
    return tuple(s if level == len(cuts) or size <= cuts[level].largest else np.inf for level, s in enumerate(seconds))


def _rings(tiers: Tiers, cuts: tuple[Cut, ...], rates: list[float], volume: float, size: int, tensor: int) -> tuple[float, ...]:
    """Members that NVLink joins share their adapters where the ring leaves them: the fewer domains, the faster."""
    shared = 1.0
    if tiers.domain is not None:
        shared = size / max(2, -(-size // max(1, cuts[0].largest // tensor)))
    seconds = [volume / (rate if level == 0 else min(rate * shared, tiers.nvlink_Bps)) for level, rate in enumerate(rates)]
    return _bounded(cuts, size * tensor, seconds)


def _all_to_all(cuts: tuple[Cut, ...], rates: list[float], volume: float, size: int) -> tuple[float, ...]:
    """Of a group that is split, a member of the smaller part has at least half of the group beyond the cut; in an even split all have.
    What stays nearer fills the sets of the tiers below."""
    out = []
    for level in range(len(rates)):
        near = size - 1
        if level:
            near = min(size // 2, cuts[level - 1].largest) - 1
        left, seconds = near, (size - 1 - near) / rates[level]
        for below in range(level):
            here = min(left, max(0, cuts[below].largest - 1 - (near - left)))
            seconds, left = seconds + here / rates[below], left - here
        out.append(volume / (size - 1) * (seconds + left / rates[level]))
    return _bounded(cuts, size, out)
