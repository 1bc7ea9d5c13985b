"""How many hosts a fabric takes before a cable that is laid has to move.

Asked of the designer itself: the fabric is designed once more with more hosts, and what that makes of the switches and the places of the
hosts is compared. Cables are not expanded, so that it is asked of large fabrics, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...blueprint.fabrics import Fabric as Wanted
from .build import build
from .dragonfly import Dragonfly
from .model import Fabric, SwitchGroup
from .shape import FabricError
from .tree import Tree

MOST = 65_535
"""Machines that a pool may be said to grow to."""
ONE = {"units": "unit", "leaves": "leaf", "groups": "group", "nodes": "node", "ports": "port"}


def room(fabric: Fabric, wanted: Wanted, pools: Mapping[str, Any]) -> dict[str, int]:
    """Pool → up to how many of its hosts may stand, added one after another, while those of the other pools stay as they are planned,
    before a cable of ``fabric`` moves. What is planned for is laid out already, so that it is never less than that."""
    return {name: _most(fabric, wanted, pools, name) for name in fabric.pools}


def _most(fabric: Fabric, wanted: Wanted, pools: Mapping[str, Any], name: str) -> int:
    pool = pools[name]

    def grown(count: int) -> Fabric | None:
        more = {**pools, name: replace(pool, count=count, grow_to=0)}
        try:
            return build(fabric.name, wanted, more, fabric.manager.nic if fabric.manager else None, False, fabric.attached)
        except FabricError:
            return None

    low, last = pool.planned, min(MOST, 10**pool.width - 1)
    before, high, step = grown(low), low, 1
    while high == low < last:  # twice as far each time, until something moves
        high = min(low + step, last)
        after = grown(high)
        if before and after and keeps(before, after, wanted.pod is not None):
            low, before, step = high, after, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        after = grown(middle)
        if before and after and keeps(before, after, wanted.pod is not None):
            low, before = middle, after
        else:
            high = middle
    return low


def keeps(before: Fabric, after: Fabric, fixed_pods: bool = False) -> bool:
    """Whether every cable of ``before`` stands in ``after`` as it is, and in every size between. Unless ``fixed_pods``, the units of three
    tiers are dealt evenly over as few pods as hold them, so that pods of m units become smaller with the first unit of pod q where
    m (q - 1) + 1 units are at most (m - 1) q: while q is below m."""
    models = {tier.kind: tier.switch for tier in after.tiers}
    if any(models.get(tier.kind) != tier.switch for tier in before.tiers) or before.link_gbps != after.link_gbps or before.reserved != after.reserved:
        return False
    return _trunks_keep(before.trunks, after.trunks, fixed_pods, len(before.groups[0].leaves)) and len(before.groups) <= len(after.groups) and all(map(_places_keep, before.groups, after.groups))


def _places_keep(before: SwitchGroup, after: SwitchGroup) -> bool:
    """The same leaves, and every host on its port of them."""
    stood = len(before.hosts)
    if before.leaves != after.leaves:
        return False
    if before.hosts == after.hosts[:stood] and before.ports == after.ports[:stood]:
        return True
    return dict(zip(before.hosts, before.ports, strict=True)).items() <= dict(zip(after.hosts, after.ports, strict=True)).items()


def _trunks_keep(before: Any, after: Any, fixed_pods: bool, unit_leaves: int) -> bool:
    if before is None or after is None or type(before) is not type(after):
        return before is after  # a second switch joins what was one alone: its leaf gives up ports for uplinks
    if isinstance(before, Dragonfly):
        if before.groups == before.planned == 1 and after.planned == 2:  # between groups nothing was laid
            before = replace(before, planned=2)
        return replace(before, groups=0) == replace(after, groups=0)
    assert isinstance(before, Tree)
    if before.size.up and not fixed_pods and before.pods != after.pods and before.pod_leaves * before.apart > unit_leaves * (before.pods // before.apart + 1):
        return False
    pod = before.pod_leaves if before.size.up else 0  # two tiers are one pod of whatever size
    return replace(before, leaves=0, pod_leaves=pod) == replace(after, leaves=0, pod_leaves=after.pod_leaves if after.size.up else 0)


def ready(fabric: Fabric) -> str:
    """What stands above the leaves, or joins them, and for how much it was sized."""
    growth = fabric.growth
    tops = " and ".join(f"{len(names):,} {kind}{'' if len(names) == 1 else 's'}" for kind, names in (("spine", fabric.spines), ("core", fabric.cores)) if names)
    if growth is None:
        return tops
    sized = f"{growth.planned:,} {growth.unit if growth.planned != 1 else ONE.get(growth.unit, growth.unit)}"
    if fabric.topology.startswith("dragonfly"):
        return f"links for {sized}"
    return f"{tops} for {sized}" if tops else f"{len(fabric.leaves):,} leaves alone" if len(fabric.leaves) > 1 else "one leaf alone"
