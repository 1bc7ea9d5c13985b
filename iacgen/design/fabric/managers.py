"""Which ports of a host its subnet manager works through, where the fabric does not connect the host for anything else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ... import catalog
from ...blueprint.fabrics import Fabric as Wanted
from .model import MANAGERS, Manager
from .shape import FabricError

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


def manager(wanted: Wanted, pools: Mapping[str, Any], nic: catalog.HostNic | None, subnets: int = 1, rails_apart: bool = False) -> Manager | None:
    """The manager and the leaf ports that it takes: UFM's four or as many as its hosts have, one for each host of OpenSM, none of hosts that the fabric connects.

    It runs on the first hosts of its pool that are not out of service. Of several ``subnets`` each has its own, OpenSM as many on a host
    as that has ports, UFM one; a pool of too few hosts gets a manager of one subnet, which IAC569 tells. Raises FabricError."""
    if wanted.manager is None:
        return None
    if wanted.technology != "infiniband":
        raise FabricError("manager", "only an InfiniBand fabric has a subnet manager")
    kind, pool = wanted.manager.kind, pools[wanted.manager.pool]
    up = tuple(host for host in pool.hosts if host not in pool.down)
    if not up:
        raise FabricError("manager", f"all hosts of {pool.name} are out of service")
    connected = pool.name in wanted.connects
    if nic is None and not connected:
        raise FabricError("manager", f"{kind} runs on hosts with an InfiniBand port on the fabric; {pool.name} ({pool.system.name}) has none to spare")
    teams = teams_for(kind, subnets, None if connected else nic)
    team = next((size for size in range(MANAGERS, 0, -1) if len(up) >= teams * size), None)
    if team is None:
        teams, team, subnets = 1, min(MANAGERS, len(up)), 1
    hosts = up[: teams * team]
    if connected or nic is None:
        return Manager(kind, hosts, 0, None, subnets, team)
    of_ufm = team if rails_apart and subnets > 1 else min(UFM_PORTS, team * nic.count)  # of a rail the first unit has one leaf: a second port there is of no use
    return Manager(kind, hosts, subnets * (of_ufm if kind == "ufm" else team), nic, subnets, team)


def teams_for(kind: str, subnets: int, nic: catalog.HostNic | None) -> int:
    """How many masters, each with a standby, ``subnets`` subnets need: UFM runs one, OpenSM one on each port of a host, which has one on
    every subnet where the fabric connects it (no ``nic``)."""
    if kind == "ufm":
        return subnets
    return -(-subnets // nic.count) if nic else 1
