"""Which ports of a host its subnet manager works through, where the fabric does not connect the host for anything else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ... import catalog
from ...blueprint.fabrics import Fabric as Wanted
from .model import Manager
from .shape import FabricError

MANAGERS = 2  # a master and a standby, on the first hosts of their pool
UFM_PORTS = 4  # DGX SuperPOD reference architecture H100, network fabrics, table 4: node cables = 8 x nodes + 4


def manager_nics(fabrics: Mapping[str, Wanted], pools: Mapping[str, Any]) -> dict[str, catalog.HostNic]:
    """Fabric → InfiniBand ports of its manager's hosts that no other fabric has: those of its purpose, else those of another.

    A fabric that connects its manager's hosts needs none, and one whose manager has no port left is missing.
    """
    taken = {name: {f.purpose for f in fabrics.values() if name in f.connects} for name in pools}
    out: dict[str, catalog.HostNic] = {}
    for name, wanted in sorted(fabrics.items()):
        if wanted.manager is None or wanted.manager.pool in wanted.connects:
            continue
        pool, used = pools[wanted.manager.pool], taken[wanted.manager.pool]
        for purpose in dict.fromkeys((wanted.purpose, "compute", "storage")):
            nic = pool.system.nics.get(purpose)
            if purpose not in used and nic and "infiniband" in catalog.nic(nic.nic).technologies:
                out[name] = nic
                used.add(purpose)
                break
    return out


def manager(wanted: Wanted, pools: Mapping[str, Any], nic: catalog.HostNic | None) -> Manager | None:
    """The manager and the leaf ports that it takes: UFM's four or as many as its hosts have, one for each host of OpenSM, none of hosts that the fabric connects.

    It runs on the first hosts of its pool that are not out of service. Raises FabricError."""
    if wanted.manager is None:
        return None
    if wanted.technology != "infiniband":
        raise FabricError("manager", "only an InfiniBand fabric has a subnet manager")
    kind, pool = wanted.manager.kind, pools[wanted.manager.pool]
    hosts = tuple(host for host in pool.hosts if host not in pool.down)[:MANAGERS]
    if not hosts:
        raise FabricError("manager", f"all hosts of {pool.name} are out of service")
    if pool.name in wanted.connects:
        return Manager(kind, hosts, 0)
    if nic is None:
        raise FabricError("manager", f"{kind} runs on hosts with an InfiniBand port on the fabric; {pool.name} ({pool.system.name}) has none to spare")
    ports = min(UFM_PORTS, len(hosts) * nic.count) if kind == "ufm" else len(hosts)
    return Manager(kind, hosts, ports, nic)
