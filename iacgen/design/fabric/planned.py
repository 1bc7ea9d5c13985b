"""A planned fabric as its hosts see it. What joins the switches is taken from the plan in sums: no port and no cable is expanded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .hierarchy import Hierarchy, Labels, Rates
from .model import Fabric, pool_of

if TYPE_CHECKING:
    from ..model import Pool


def of_fabric(fabric: Fabric, hosts: Sequence[str] | None = None, pools: Mapping[str, Pool] | None = None) -> Hierarchy:
    """The tiers above ``hosts``, in their order; above all hosts of the fabric, as they lie, where none are named.

    Tier leaf holds the switch groups and tier pod, where there are several, the pods or dragonfly groups. What joins them all is a last
    tier of one group: ``<fabric>-spine``, or ``<fabric>-top`` above pods; groups that no switch joins stay islands. Groups without one
    of the hosts keep their numbers. ``pools`` tells, by name, the systems of the hosts: without it the hierarchy has no NVLink domains.
    Raises KeyError for a host that is not on the fabric.
    """
    named = fabric.hosts if hosts is None else tuple(hosts)
    leaf = np.array([fabric.group_of[host] for host in named], dtype=np.int64)
    tiers, groups, labels, uplinks = ["leaf"], [tuple(g.name for g in fabric.groups)], [leaf], [np.array([fabric.group_Bps(g) for g in fabric.groups])]
    if len(fabric.pods) > 1:
        tiers.append("pod")
        groups.append(tuple(pod.name for pod in fabric.pods))
        labels.append(_pod_of(fabric)[leaf])
        uplinks.append(np.full(len(fabric.pods), fabric.pod_Bps()))
    if fabric.trunks is not None:
        tiers.append("top" if len(fabric.pods) > 1 else "spine")
        groups.append((f"{fabric.name}-{tiers[-1]}",))
        labels.append(np.zeros(len(named), dtype=np.int64))
        uplinks.append(np.array([np.inf]))
    return _hierarchy(fabric, named, tuple(tiers), tuple(groups), np.stack(labels), tuple(uplinks), pools or {})


def _hierarchy(
    fabric: Fabric, hosts: tuple[str, ...], tiers: tuple[str, ...], groups: tuple[tuple[str, ...], ...], labels: Labels, uplinks: tuple[Rates, ...], pools: Mapping[str, Pool]
) -> Hierarchy:
    of = {name for name in map(pool_of, hosts)}
    rates = {fabric.nics[name].count * fabric.link_gbps[name] * 1e9 / 8 if name in fabric.nics else None for name in of}
    several = any(name in pools and pools[name].system.nvlink_domain_servers > 1 for name in of)
    domains = tuple(_domain(host, pools) for host in hosts) if several else ()
    return Hierarchy(fabric.name, hosts, tiers, groups, labels, uplinks, rates.pop() if len(rates) == 1 else None, domains)


def _pod_of(fabric: Fabric) -> Labels:
    """Switch group → its pod, by number."""
    out = np.zeros(len(fabric.groups), dtype=np.int64)
    for number, pod in enumerate(fabric.pods):
        out[pod.groups.start : pod.groups.stop] = number
    return out


def _domain(host: str, pools: Mapping[str, Pool]) -> str | None:
    """The racks of a pool are filled one after the other, in the order of its hosts."""
    pool = pools.get(pool_of(host))
    together = pool.system.nvlink_domain_servers if pool else 1
    return f"nvlink-{pool.name}-{pool.index(host) // together + 1}" if pool and together > 1 else None
