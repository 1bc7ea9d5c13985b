"""The inventory's groups: pools by scalable unit with every host once, then what the hosts do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...design.fabric.model import Fabric
from ...design.model import Design, Lustre, Pool


@dataclass(frozen=True)
class Group:
    """A group of the inventory with a line on what it is for. ``body`` is its YAML: children, hosts, or nothing."""

    name: str
    note: str
    body: dict[str, object]


def pools_of(design: Design, site: str) -> list[Pool]:
    """The pools of a site by name."""
    return sorted((p for p in design.pools.values() if p.site == site), key=lambda p: p.name)


def lustres_of(design: Design, site: str) -> list[Lustre]:
    """The Lustre file systems of a site by name."""
    return sorted((s for s in design.storage.values() if s.kind == "lustre" and s.site == site), key=lambda s: s.name)


def fabrics_of(design: Design, pool: str) -> list[Fabric]:
    """The fabrics that a pool is on: compute, storage, then those that manage it, each by name."""
    order = ("compute", "storage", "in-band", "management", "out-of-band")
    return sorted((f for f in design.fabrics.values() if pool in f.pools), key=lambda f: (order.index(f.purpose), f.name))


def groups(design: Design, site: str, caches: set[str]) -> list[Group]:
    """All groups that site.yml names, and the pools. Every group is always there, so that no play names an unknown one. ``caches`` are
    pools that keep data of jobs in their memory."""
    pools = pools_of(design, site)
    lustres, down = lustres_of(design, site), [h for p in pools for h in p.hosts if h in p.down]
    infiniband = [p.name for p in pools if infiniband_of(design, p.name)]
    roce = [p.name for p in pools if any(f.technology == "roce" for f in fabrics_of(design, p.name))]
    metadata = _pool_names(design, (h for s in lustres for h in s.metadata))
    objects = _pool_names(design, (h for s in lustres for h in s.servers))
    slurm = _SlurmPools.of(design, pools, metadata | objects | caches)
    clients = {name for s in lustres for name in s.clients}
    return [
        *(_pool_group(design, pool) for pool in pools),
        Group("hosts_down", "Out of service, says the blueprint: no play touches them", _hosts(design, down)),
        _children("rdma_hosts", "InfiniBand or RoCE ports", [*infiniband, *roce]),
        _children("ib_hosts", "InfiniBand ports", infiniband),
        _children("roce_hosts", "RoCE ports", roce),
        Group("subnet_managers", "OpenSM", _hosts(design, [h for f in opensm_fabrics(design, site) for h in f.manager.hosts])),
        _children("gpu_hosts", "GPUs", [p.name for p in pools if p.gpu]),
        _groups("lnet_hosts", "Lustre networking", ["lustre_servers", "lustre_clients"]),
        _groups("lustre_servers", "Lustre targets", ["lustre_metadata", "lustre_objects"]),
        _children("lustre_metadata", "Lustre metadata, and the management target on the first host", metadata),
        _children("lustre_objects", "Lustre objects", objects),
        _children("lustre_clients", "Lustre mounts", clients),
        _groups("slurm_hosts", "Slurm", ["slurm_controllers", "slurm_nodes", "slurm_logins"]),
        Group("slurm_controllers", "slurmctld", _hosts(design, [h for h in controllers_of(design) if design.pool_of(h).name in slurm.controllers])),
        _children("slurm_nodes", "slurmd", slurm.nodes),
        _children("slurm_logins", "Jobs are submitted here: hosts that have no other duty", slurm.logins),
    ]


def opensm_fabrics(design: Design, site: str) -> list[Fabric]:
    """Fabrics of a site whose subnet manager is OpenSM, by name; UFM is a product of its own and has no role here."""
    return sorted((f for f in design.fabrics.values() if f.site == site and f.manager and f.manager.kind == "opensm"), key=lambda f: f.name)


def only_managed(design: Design, pool: str) -> list[Fabric]:
    """Fabrics whose OpenSM runs on a pool that they do not connect: its hosts have one port for that alone."""
    return [f for f in design.fabrics.values() if f.manager and f.manager.kind == "opensm" and f.manager.ports and design.pool_of(f.manager.hosts[0]).name == pool]


def infiniband_of(design: Design, pool: str) -> list[Fabric]:
    """InfiniBand fabrics that hosts of a pool have ports on."""
    return [f for f in fabrics_of(design, pool) if f.technology == "infiniband"] + only_managed(design, pool)


def ranges(pool: Pool, numbers: Sequence[int]) -> list[str]:
    """Ascending host numbers as Ansible's inclusive ranges, ``gpu[0001:0032]`` or with a step ``gpu[0001:0125:4]``."""
    out, at = [], 0
    while at < len(numbers):
        end, step = at, numbers[at + 1] - numbers[at] if at + 1 < len(numbers) else 1
        while end + 1 < len(numbers) and numbers[end + 1] - numbers[end] == step:
            end += 1
        if step > 1 and end - at < 2:  # two numbers at a distance are no pattern
            end = at
        first, last = (f"{numbers[i]:0{pool.width}d}" for i in (at, end))
        out.append(f"{pool.name}[{first}:{last}{f':{step}' if step > 1 else ''}]" if end > at else f"{pool.name}{first}")
        at = end + 1
    return out


def _pool_group(design: Design, pool: Pool) -> Group:
    name, note = _pool_name(pool.name), f"{pool.count} x {pool.system.name}"
    fabric = design.fabric_of(pool.name, "compute")
    if pool.gpu is None or fabric is None or len(fabric.groups) < 2:
        return Group(name, note, _hosts(design, pool.hosts))
    units: dict[str, object] = {}
    for group in fabric.groups:
        if here := [h for h in group.hosts if design.pool_of(h).name == pool.name]:
            short = group.name.removeprefix(f"{fabric.name}-").replace("-", "_")
            units[f"unit_{pool.name.replace('-', '_')}_{short}"] = _hosts(design, here)
    return Group(name, note, {"children": units})


def controllers_of(design: Design) -> tuple[str, ...]:
    """Hosts that run slurmctld, in order."""
    return design.scheduler.controllers if design.scheduler else ()


@dataclass(frozen=True)
class _SlurmPools:
    """Names of a site's pools by what they do for Slurm; all empty without it."""

    controllers: set[str]
    nodes: set[str]
    logins: set[str]

    @classmethod
    def of(cls, design: Design, pools: list[Pool], servers: set[str]) -> _SlurmPools:
        if design.scheduler is None:
            return cls(set(), set(), set())
        here = {p.name for p in pools}
        controllers = _pool_names(design, controllers_of(design)) & here
        nodes = {name for partition in design.scheduler.partitions for name in partition.pools} & here
        managers = _pool_names(design, (h for f in design.fabrics.values() if f.manager for h in f.manager.hosts))
        idle = here - controllers - nodes - managers - servers - {p.name for p in pools if p.gpu}
        return cls(controllers, nodes, idle)


def _pool_names(design: Design, hosts: Iterable[str]) -> set[str]:
    return {design.pool_of(host).name for host in hosts}


def _pool_name(pool: str) -> str:
    """A group's name is a word of letters, digits and underscores; the prefix keeps it apart from every other group."""
    return f"pool_{pool.replace('-', '_')}"


def _children(name: str, note: str, pools: Iterable[str]) -> Group:
    return _groups(name, note, sorted({_pool_name(pool) for pool in pools}))


def _groups(name: str, note: str, children: Sequence[str]) -> Group:
    return Group(name, note, {"children": dict.fromkeys(children)} if children else {})


def _hosts(design: Design, hosts: Iterable[str]) -> dict[str, object]:
    """``hosts:`` with ranges; nothing for no hosts. Blueprint order never matters, so they are sorted."""
    by_pool: dict[str, list[int]] = {}
    for host in dict.fromkeys(hosts):
        pool = design.pool_of(host)
        by_pool.setdefault(pool.name, []).append(pool.index(host) + 1)
    names = [text for name in sorted(by_pool) for text in ranges(design.pools[name], sorted(by_pool[name]))]
    return {"hosts": dict.fromkeys(names)} if names else {}
