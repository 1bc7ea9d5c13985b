"""Blueprint and catalog → Design. References have been checked before; what only the catalog can tell is found here."""

from __future__ import annotations

from .. import catalog
from ..blueprint import Blueprint
from ..blueprint.nodes import NodePool
from ..blueprint.sites import AwsSite, OnPremSite
from ..blueprint.storage import FsxLustre as WantedFsx
from ..blueprint.storage import Lustre as WantedLustre
from ..diagnostics import Diagnostic
from . import facility
from .fabric.build import build as build_fabric
from .fabric.build import cloud
from .fabric.model import Fabric
from .fabric.shape import FabricError
from .model import S3, Capacity, Design, FsxLustre, Lustre, Partition, Pool, Scheduler, Site, Software, Storage


def design(blueprint: Blueprint) -> tuple[Design | None, list[Diagnostic]]:
    """The designed cluster, or None and why not (ids IAC21x). Needs a blueprint whose references all resolve."""
    findings: list[Diagnostic] = []
    pools = _pools(blueprint)
    fabrics = _fabrics(blueprint, pools, findings)
    if findings:
        return None, findings
    facilities = _facilities(blueprint, pools, fabrics, findings)
    if findings:
        return None, findings
    software = blueprint.software
    return Design(
        blueprint.name,
        {name: _site(name, blueprint) for name in blueprint.sites},
        pools,
        fabrics,
        {name: _storage(name, wanted, pools, fabrics) for name, wanted in blueprint.storage.items()},
        _scheduler(blueprint, pools),
        Software(software.driver, software.nccl, software.deepspeed, software.megatron, software.lustre, software.time_servers),
        facilities,
    ), findings


def _site(name: str, blueprint: Blueprint) -> Site:
    site = blueprint.sites[name]
    domain = site.domain or f"{blueprint.name}.internal"
    if isinstance(site, AwsSite):
        return Site(name, "aws", domain, site.region, site.zone, site.network, site.admin_networks)
    return Site(name, "on-prem", domain)


def _pools(blueprint: Blueprint) -> dict[str, Pool]:
    """GPU pools first, as they are what a reader looks for, otherwise in the order given."""
    pools = [_pool(name, wanted) for name, wanted in blueprint.nodes.items()]
    return {pool.name: pool for pool in sorted(pools, key=lambda pool: not pool.system.gpus)}


def _pool(name: str, wanted: NodePool) -> Pool:
    system = catalog.system(wanted.system)
    capacity = Capacity(wanted.capacity.kind, getattr(wanted.capacity, "id", None)) if wanted.capacity else Capacity("on-demand", None)
    gpu = catalog.gpu(system.gpu) if system.gpu else None
    return Pool(name, wanted.site, system, gpu, wanted.count, wanted.width, wanted.spares, frozenset(wanted.down), capacity, ("nodes", name))


def _fabrics(blueprint: Blueprint, pools: dict[str, Pool], findings: list[Diagnostic]) -> dict[str, Fabric]:
    fabrics: dict[str, Fabric] = {}
    for name, wanted in blueprint.fabrics.items():
        try:
            fabrics[name] = build_fabric(name, wanted, pools)
        except FabricError as error:
            path: tuple[str | int, ...] = ("fabrics", name, *([error.field] if error.field else []))
            findings.append(Diagnostic("IAC211", "impossible-fabric", "error", str(error), path, on_key=error.field is None))
    for pool in pools.values():
        if pool.system.cloud and pool.system.gpus:
            fabrics[f"{pool.name}-efa"] = cloud(pool)
    return fabrics


def _storage(name: str, wanted: object, pools: dict[str, Pool], fabrics: dict[str, Fabric]) -> Storage:
    origin = ("storage", name)
    if isinstance(wanted, WantedLustre):
        fabric, metadata = fabrics[wanted.fabric], pools[wanted.metadata]
        net = "tcp" if fabric.technology == "ethernet" else "o2ib"
        nids = tuple(f"{fabric.address(metadata.name, i)}@{net}" for i in range(min(2, metadata.count)))
        return Lustre(
            name, wanted.site, wanted.mount, wanted.fsname or name[:8].rstrip("-"), pools[wanted.servers].hosts, metadata.hosts, wanted.fabric,
            wanted.capacity, wanted.read, wanted.write, nids, origin,
        )  # fmt: skip
    if isinstance(wanted, WantedFsx):
        return FsxLustre(name, wanted.site, wanted.mount, wanted.capacity >> 30, wanted.throughput_mbps_per_tib, wanted.exports_to, origin)
    return S3(name, wanted.site, wanted.bucket_prefix or name, origin)  # type: ignore[attr-defined]


def _scheduler(blueprint: Blueprint, pools: dict[str, Pool]) -> Scheduler | None:
    wanted = blueprint.scheduler
    if wanted is None:
        return None
    gpu_pools = tuple(p.name for p in pools.values() if p.system.gpus)
    if wanted.partitions:
        only = len(wanted.partitions) == 1
        partitions = tuple(Partition(n, p.nodes, p.default or only, p.max_time) for n, p in wanted.partitions.items())
    else:
        partitions = (Partition("train", gpu_pools, True, "7-00:00:00"),)
    controllers = pools[wanted.controllers]
    return Scheduler(wanted.version, controllers.site, controllers.hosts[:2], partitions, ("scheduler",))


def _facilities(blueprint: Blueprint, pools: dict[str, Pool], fabrics: dict[str, Fabric], findings: list[Diagnostic]) -> dict[str, facility.Facility]:
    out: dict[str, facility.Facility] = {}
    for name, site in blueprint.sites.items():
        if not isinstance(site, OnPremSite):
            continue
        things = [_racked(p) for p in pools.values() if p.site == name and p.system.rack_units]
        things += [s for f in fabrics.values() if f.site == name and (s := facility.switches_of(f))]
        try:
            out[name] = facility.fill(name, things, site.rack.power, site.rack.units, site.cooling.capacity if site.cooling else None)
        except ValueError as error:
            findings.append(Diagnostic("IAC212", "does-not-fit-a-rack", "error", f"{error} needs more power or height than one rack has", ("sites", name, "rack")))
            continue
        if site.cooling and out[name].power_w > site.cooling.capacity:
            heat, plant = out[name].power_w / 1000, site.cooling.capacity / 1000
            message = f"the hall draws {heat:,.0f} kW at most and the plant removes {plant:,.0f} kW"
            findings.append(Diagnostic("IAC213", "heat-above-cooling", "error", message, ("sites", name, "cooling", "capacity")))
    return out


def _racked(pool: Pool) -> facility.Racked:
    kw = pool.system.power_kw
    return facility.Racked(pool.name, pool.hosts, pool.system.rack_units or 1, round(kw * 1000) if kw else None)
