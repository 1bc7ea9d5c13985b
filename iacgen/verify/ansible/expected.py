"""What the inventory must come to, taken from the design and not from the templates."""

from __future__ import annotations

from typing import Any


def groups(design: Any, site: str) -> dict[str, set[str]]:
    """Group → hosts, for every group whose hosts follow from the design. A pool's group is named after it."""
    pools = [pool for pool in design.pools.values() if pool.site == site]
    here = {host for pool in pools for host in pool.hosts}
    fabrics = [f for f in design.fabrics.values() if f.site == site]
    lustres = [s for s in design.storage.values() if s.kind == "lustre" and s.site == site]
    out = {f"pool_{pool.name}".replace("-", "_"): set(pool.hosts) for pool in pools}
    out |= {
        "all": here,
        "hosts_down": {h for pool in pools for h in pool.down},
        "gpu_hosts": {h for pool in pools if pool.system.gpus for h in pool.hosts},
        "ib_hosts": {h for f in fabrics if f.technology == "infiniband" for h in _attached(design, f)} & here,
        "roce_hosts": {h for f in fabrics if f.technology == "roce" for h in _attached(design, f)} & here,
        "subnet_managers": {h for f in fabrics if f.manager and f.manager.kind == "opensm" for h in f.manager.hosts} & here,
        "lustre_metadata": {h for s in lustres for h in s.metadata},
        "lustre_objects": {h for s in lustres for h in s.servers},
        "lustre_clients": {h for s in lustres for name in s.clients for h in design.pools[name].hosts},
        "slurm_controllers": set(design.scheduler.controllers) & here if design.scheduler else set(),
        "slurm_nodes": {h for p in design.scheduler.partitions for n in p.pools for h in design.pools[n].hosts} & here if design.scheduler else set(),
    }
    return out | _units(design, pools)


def addresses(design: Any, site: str) -> dict[str, str]:
    """First and last host of each pool → the address at which it is reached; the name where none is planned."""
    ends = {host for pool in design.pools.values() if pool.site == site for host in (pool.hosts[0], pool.hosts[-1])}
    return {host: str(design.address(host) or host) for host in sorted(ends)}


def _attached(design: Any, fabric: Any) -> set[str]:
    """Hosts with a port on a fabric, all those of the pool that runs its OpenSM among them."""
    managing = {design.pool_of(host).name for host in fabric.manager.hosts} if fabric.manager and fabric.manager.kind == "opensm" else set()
    return {host for name in {*fabric.pools, *managing} for host in design.pools[name].hosts}


def _units(design: Any, pools: list[Any]) -> dict[str, set[str]]:
    """``unit_<pool>_<unit>`` of every GPU pool that lies on more than one group of the compute fabric's leaves."""
    out: dict[str, set[str]] = {}
    for pool in (p for p in pools if p.system.gpus):
        fabric = design.fabric_of(pool.name, "compute")
        if fabric and len(fabric.groups) > 1:
            for group in fabric.groups:
                name = f"unit_{pool.name}_{group.name.removeprefix(f'{fabric.name}-')}".replace("-", "_")
                out[name] = set(group.hosts) & set(pool.hosts)
    return {name: hosts for name, hosts in out.items() if hosts}
