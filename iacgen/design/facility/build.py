"""Blueprint, pools and fabrics of a site → its hall."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ...blueprint.sites import OnPremSite
from ...catalog import Switch
from ..fabric.model import Fabric, pool_of
from ..fabric.tree import Tree
from .fill import Hall, Leaves, fill
from .model import Facility, Feeds, Floor, Limits, Plant, Racked

if TYPE_CHECKING:
    from ..model import Pool

SIDE = 8  # one in so many places of a row is kept for spines, cores and machines without GPUs


def build(name: str, site: OnPremSite, pools: Iterable[Pool], fabrics: Iterable[Fabric]) -> Facility:
    """The hall with everything in its place. Raises TooLarge with the kind of which not even one fits a rack."""
    here = [pool for pool in pools if pool.site == name and pool.system.rack_units]
    wired = [fabric for fabric in fabrics if fabric.site == name and fabric.tiers]
    leaves = [one for fabric in wired if (one := _leaves(fabric, here))]
    hall = Hall([_racked(p) for p in here if p.gpu], [_racked(p) for p in here if not p.gpu], leaves, [kind for fabric in wired for kind in _upper(fabric)])
    rack = site.rack
    limits = Limits(rack.units, rack.power, rack.cooling or rack.power, rack.weight_kg)
    floor = Floor(rack.row_length, max(1, rack.row_length // SIDE), rack.pitch_m, rack.width_m, rack.rows)
    racks = fill(hall, limits, floor)
    unknown = [kind.kind for kind in (*hall.rows, *hall.others, *leaves, *hall.upper) if kind.power_w is None]
    plated = sum(round(p.system.power_kw * 1000) * p.count for p in here if p.system.cooling == "hybrid" and p.system.power_kw)
    return Facility(name, racks, limits, floor, sum(r.power_w for r in racks), _plant(site), _feeds(site), tuple(unknown), plated)


def _racked(pool: Pool) -> Racked:
    system = pool.system
    kw, together = system.power_kw, system.nvlink_domain_servers
    return Racked(pool.name, pool.hosts, system.rack_units or 1, round(kw * 1000) if kw else None, system.weight_kg, system.id, pool.planned, together)


def _leaves(fabric: Fabric, here: list[Pool]) -> Leaves | None:
    """The leaves along the first pool of the fabric that stands in this hall; None where none does."""
    along = next((pool for name in fabric.pools for pool in here if pool.name == name), None)
    if along is None:
        return None
    switch, groups = fabric.tiers[0].switch, tuple(group.leaves for group in fabric.groups)
    planned = fabric.growth.planned if fabric.growth and fabric.growth.unit in ("units", "leaves") else len(groups)
    return Leaves(fabric.name, groups, along.name, _hosts_of_a_group(fabric, along.name), planned, switch.rack_units, power_w(switch), switch.weight_kg, switch.id)


def _hosts_of_a_group(fabric: Fabric, pool: str) -> int | None:
    """Machines of the pool on a full group; None where there is one group, which is not known to be full."""
    if len(fabric.groups) == 1 and (fabric.growth is None or fabric.growth.planned <= 1 or fabric.growth.unit not in ("units", "leaves")):
        return None
    if fabric.unit:
        return fabric.unit
    ports = max(sum(fabric.leaf_ports(host) for host in group.hosts) for group in fabric.groups)
    down = getattr(fabric.trunks, "down", ports)
    own = [len(group.hosts) for group in fabric.groups if group.hosts and pool_of(group.hosts[0]) == pool == pool_of(group.hosts[-1])]
    return max(1, down // (1 if fabric.by_rail else fabric.nics[pool].count), *own)


def _upper(fabric: Fabric) -> Iterator[Racked]:
    """Spines and cores. Cores and the spines of two tiers stand for the planned size from the first day; spines of pods come with them."""
    for tier in fabric.tiers[1:]:
        planned = _planned_spines(fabric) if tier.kind == "spine" else 0
        yield Racked(f"{fabric.name}-{tier.kind}", tier.names, tier.switch.rack_units, power_w(tier.switch), tier.switch.weight_kg, tier.switch.id, planned)


def _planned_spines(fabric: Fabric) -> int:
    """Spines of the planned size: as many a pod as there are now, in as many pods as the planned groups fill."""
    if not fabric.growth or fabric.growth.unit not in ("units", "leaves") or not fabric.pods:
        return len(fabric.spines)
    of_a_pod = fabric.growth.planned
    if isinstance(fabric.trunks, Tree):
        of_a_pod = fabric.trunks.pod_leaves * fabric.trunks.apart * fabric.planes // len(fabric.groups[0].leaves)
    return len(fabric.spines) // len(fabric.pods) * -(-fabric.growth.planned // max(1, of_a_pod))


def power_w(switch: Switch) -> int | None:
    """The most that a switch draws; what is typical where no maximum is published, None where neither is."""
    kw = switch.power_kw_max or switch.power_kw_typical
    return round(kw * 1000) if kw else None


def _plant(site: OnPremSite) -> Plant | None:
    cooling = site.cooling
    if cooling is None:
        return None
    cdu = cooling.cdu
    return Plant(cooling.kind, cooling.capacity, cooling.redundancy, cooling.supply_c, cooling.rise_k, cooling.liquid_share, cdu.capacity if cdu else None, cdu.count if cdu else None)


def _feeds(site: OnPremSite) -> Feeds | None:
    return Feeds(site.power.feeds, site.power.redundancy, site.power.capacity) if site.power else None
