"""Blueprint and catalog → Design. References have been checked before; what only the catalog can tell is found here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .. import catalog
from ..blueprint import Blueprint
from ..blueprint.nodes import NodePool
from ..blueprint.sites import AwsSite, OnPremSite
from ..blueprint.storage import FsxLustre as WantedFsx
from ..blueprint.storage import Lustre as WantedLustre
from ..diagnostics import Diagnostic, Related
from . import facility
from .fabric.attached import Attached, attached
from .fabric.build import build as build_fabric
from .fabric.build import cloud
from .fabric.managers import manager_nics
from .fabric.model import Fabric
from .fabric.shape import FabricError
from .lustre import lnet_networks, lustre
from .model import S3, Capacity, Design, ExistingNetwork, FsxLustre, Partition, Pool, Scheduler, Site, Software, Storage, Variable


NEAR = 3  # impossible fabrics to look for possible ones beside, as each of those is a design of its own


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
    software, scheduler = blueprint.software, _scheduler(blueprint, pools)
    return Design(
        blueprint.name,
        {name: _site(name, blueprint) for name in blueprint.sites},
        pools,
        fabrics,
        dict(_storage(blueprint, pools, fabrics, scheduler)),
        scheduler,
        Software(software.driver, software.nccl, software.deepspeed, software.megatron, software.lustre, software.time_servers),
        facilities,
        dict(_descriptions(blueprint)),
        _nccl(blueprint),
        dict(blueprint.fabrics),
    ), findings


def _descriptions(blueprint: Blueprint) -> Iterator[tuple[tuple[str, ...], str]]:
    pools = ((("nodes", name), pool.description) for name, pool in blueprint.nodes.items())
    jobs = ((("training", name), job.description) for name, job in blueprint.training.items())
    return ((path, text) for path, text in (((), blueprint.description), *pools, *jobs) if text)


def _nccl(blueprint: Blueprint) -> tuple[Variable, ...]:
    wanted = blueprint.nccl
    return tuple(Variable(name, value, wanted.reason or "") for name, value in wanted.set.items()) if wanted else ()


def _site(name: str, blueprint: Blueprint) -> Site:
    site = blueprint.sites[name]
    domain = site.domain or f"{blueprint.name}.internal"
    if isinstance(site, AwsSite):
        existing = ExistingNetwork(**dict(site.existing)) if site.existing else None
        return Site(name, "aws", domain, site.region, site.zone, site.network, site.admin_networks, existing, site.group.id, site.group.ports)
    return Site(name, "on-prem", domain)


def _pools(blueprint: Blueprint) -> dict[str, Pool]:
    """GPU pools first, as they are what a reader looks for, otherwise in the order given."""
    pools = [_pool(name, wanted) for name, wanted in blueprint.nodes.items()]
    return {pool.name: pool for pool in sorted(pools, key=lambda pool: not pool.system.gpus)}


def _pool(name: str, wanted: NodePool) -> Pool:
    system = catalog.system(wanted.system)
    capacity = Capacity(wanted.capacity.kind, getattr(wanted.capacity, "id", None)) if wanted.capacity else Capacity("on-demand", None)
    gpu = catalog.gpu(system.gpu) if system.gpu else None
    efa = system.cloud.efa_interfaces if system.cloud else 0
    if efa and wanted.efa is not None:
        system, efa = _with_efa(system, wanted.efa), wanted.efa
    return Pool(name, wanted.site, system, gpu, wanted.count, wanted.width, wanted.spares, frozenset(wanted.down), capacity, ("nodes", name), wanted.placement_group, efa, wanted.grow_to or 0)


def _with_efa(system: catalog.System, interfaces: int) -> catalog.System:
    """A cloud machine with so many of its EFA interfaces; without any the one with an address carries everything."""
    compute = system.nics["compute"].model_copy(update={"count": interfaces}) if interfaces else system.nics["management"]
    return system.model_copy(update={"nics": {**system.nics, "compute": compute}})


def _fabrics(blueprint: Blueprint, pools: dict[str, Pool], findings: list[Diagnostic]) -> dict[str, Fabric]:
    fabrics: dict[str, Fabric | None] = dict.fromkeys(blueprint.fabrics)  # in the blueprint's order, whichever is built first
    nics = manager_nics(blueprint.fabrics, pools)
    reached: set[str] = set()  # sites whose switches an out-of-band fabric, the first by name, has ports for
    for name, wanted in sorted(blueprint.fabrics.items(), key=lambda item: item[1].purpose == "out-of-band"):  # that one reaches the others' switches
        others: tuple[Attached, ...] = ()
        if wanted.purpose == "out-of-band" and wanted.site not in reached:
            reached.add(wanted.site)
            others = tuple(attached(f for f in fabrics.values() if f and f.site == wanted.site))
        try:
            fabrics[name] = build_fabric(name, wanted, pools, nics.get(name), len(findings) < NEAR, others)
        except FabricError as error:
            path: tuple[str | int, ...] = ("fabrics", name, *([error.field] if error.field else []))
            related = (Related(("nodes", wanted.manager.pool), "the pool of the manager"),) if error.field == "manager" and wanted.manager else ()
            help = "\n".join(("possible are", *error.possible)) if error.possible else None
            findings.append(Diagnostic("IAC211", "impossible-fabric", "error", str(error), path, related, help, on_key=error.field is None))
    for pool in pools.values():
        if pool.system.cloud and pool.system.gpus:
            fabrics[f"{pool.name}-efa"] = cloud(pool) if pool.efa else replace(cloud(pool), technology="ethernet")
    return {name: fabric for name, fabric in fabrics.items() if fabric}


def _storage(blueprint: Blueprint, pools: dict[str, Pool], fabrics: dict[str, Fabric], scheduler: Scheduler | None) -> Iterator[tuple[str, Storage]]:
    stores = {name: store for name, store in blueprint.storage.items() if isinstance(store, WantedLustre)}
    nets = lnet_networks(fabrics[store.fabric] for store in stores.values())
    running = {pool for partition in (scheduler.partitions if scheduler else ()) for pool in partition.pools}
    for name, wanted in blueprint.storage.items():
        origin = ("storage", name)
        if isinstance(wanted, WantedLustre):
            yield name, lustre(name, wanted, pools, fabrics[wanted.fabric], nets[wanted.fabric], running)
        elif isinstance(wanted, WantedFsx):
            yield name, FsxLustre(name, wanted.site, wanted.mount, wanted.capacity >> 30, wanted.throughput_mbps_per_tib, wanted.exports_to, origin)
        else:
            yield name, S3(name, wanted.site, wanted.bucket_prefix or name, origin)


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
    return Scheduler(wanted.version, controllers.site, controllers.hosts[:2], partitions, ("scheduler",), parameters=wanted.parameters, topology=wanted.topology)


def _facilities(blueprint: Blueprint, pools: dict[str, Pool], fabrics: dict[str, Fabric], findings: list[Diagnostic]) -> dict[str, facility.Facility]:
    out: dict[str, facility.Facility] = {}
    for name, site in blueprint.sites.items():
        if not isinstance(site, OnPremSite):
            continue
        try:
            out[name] = facility.build(name, site, pools.values(), fabrics.values())
        except facility.TooLarge as error:
            what = ("nodes" if str(error) in pools else "fabrics", str(error))
            related = (Related(what, "what does not fit"),) if what[1] in {**pools, **fabrics} else ()
            findings.append(Diagnostic("IAC212", "does-not-fit-a-rack", "error", f"{error}: {error.figures}", ("sites", name, "rack"), related, "give the rack what its largest machine needs, or take a smaller machine"))
            continue
        if site.cooling and out[name].power_w > site.cooling.capacity:
            heat, plant = out[name].power_w / 1000, site.cooling.capacity / 1000
            message = f"the hall draws {heat:,.0f} kW at most and the plant removes {plant:,.0f} kW"
            findings.append(Diagnostic("IAC213", "heat-above-cooling", "error", message, ("sites", name, "cooling", "capacity")))
    return out
