"""What the pools of a blueprint are there for, as the targets will use them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil

from .. import catalog
from ..blueprint import Blueprint
from ..blueprint.input import MemcachedCache, NvmeCache, RedisCache
from ..blueprint.sites import AwsSite
from ..blueprint.storage import S3, FsxLustre, Lustre, Storage
from ..blueprint.training import Training
from ..diagnostics import Related
from ..training.checkpoints import BYTES_PER_PARAMETER
from ..training.data import Cache, Input, Stage
from ..training.parameters import count


def queues(b: Blueprint) -> dict[str, tuple[str, ...]]:
    """Partition → its pools; without partitions of one's own there is ``train`` over all pools with GPUs."""
    if b.scheduler is None:
        return {}
    if b.scheduler.partitions is not None:
        return {name: partition.nodes for name, partition in b.scheduler.partitions.items()}
    return {"train": tuple(name for name in b.nodes if has_gpus(b, name))}


def queued(b: Blueprint) -> set[str]:
    """Pools that some partition gives out."""
    return {pool for pools in queues(b).values() for pool in pools}


def places_in_queues(b: Blueprint, pool: str) -> tuple[Related, ...]:
    """Where partitions of the blueprint's own name a pool."""
    named = (b.scheduler.partitions or {}) if b.scheduler else {}
    return tuple(Related(("scheduler", "partitions", name, "nodes", partition.nodes.index(pool)), "in a partition here") for name, partition in named.items() if pool in partition.nodes)


def across_sites(b: Blueprint, pools: Iterable[str]) -> bool:
    """Whether pools stand at several sites that nobody joins: one of them is in a cloud, in a network that is made for it."""
    sites = {b.nodes[pool].site for pool in pools}
    return len(sites) > 1 and any(site.existing is None for name, site in aws_sites(b).items() if name in sites)


def far_from_controllers(b: Blueprint, pool: str) -> bool:
    """Whether a cloud lies between a pool and the hosts that run slurmctld."""
    if b.scheduler is None:
        return False
    home, site, clouds = b.nodes[b.scheduler.controllers].site, b.nodes[pool].site, aws_sites(b)
    return site != home and (site in clouds or home in clouds)


def has_gpus(b: Blueprint, pool: str) -> bool:
    """Whether the machines of a pool have GPUs."""
    return catalog.system(b.nodes[pool].system).gpus > 0


def efa_interfaces(b: Blueprint, pool: str) -> int:
    """EFA interfaces that a cloud pool's machines get; 0 elsewhere."""
    cloud, wanted = catalog.system(b.nodes[pool].system).cloud, b.nodes[pool].efa
    return (cloud.efa_interfaces if wanted is None else wanted) if cloud else 0


def aws_sites(b: Blueprint) -> dict[str, AwsSite]:
    """The AWS sites by name."""
    return {name: site for name, site in b.sites.items() if isinstance(site, AwsSite)}


def closed(needed: Iterable[tuple[int, int]], open: tuple[tuple[int, int], ...] | None) -> str:
    """Those of the needed ports that are not open, as ranges in words; empty where ``open`` is None, for all are."""
    if open is None:
        return ""
    shut = {port for first, last in needed for port in range(first, last + 1) if not any(a <= port <= z for a, z in open)}
    begins = sorted(port for port in shut if port - 1 not in shut)
    ends = sorted(port for port in shut if port + 1 not in shut)
    return ", ".join(str(a) if a == z else f"{a}-{z}" for a, z in zip(begins, ends, strict=True))


def taking(b: Blueprint) -> dict[str, list[str]]:
    """Id of a reservation or capacity block → the AWS pools that take machines from it, in the order of the file."""
    sites, out = aws_sites(b), {}
    for name, pool in b.nodes.items():
        if pool.site in sites and pool.capacity and hasattr(pool.capacity, "id"):
            out.setdefault(pool.capacity.id, []).append(name)
    return out


def on_spot(b: Blueprint, pool: str) -> bool:
    """Whether the machines of a pool can be taken back at any time."""
    capacity = b.nodes[pool].capacity
    return capacity is not None and capacity.kind == "spot"


def lustres(b: Blueprint) -> dict[str, Lustre]:
    """Lustre file systems on servers of one's own, by name."""
    return {name: store for name, store in b.storage.items() if isinstance(store, Lustre)}


def lustre_servers(b: Blueprint) -> set[str]:
    """Pools that hold Lustre targets."""
    return {pool for store in lustres(b).values() for pool in (store.servers, store.metadata)}


def managers(b: Blueprint) -> set[str]:
    """Pools that run a subnet manager."""
    return {fabric.manager.pool for fabric in b.fabrics.values() if fabric.manager}


def logins(b: Blueprint) -> set[str]:
    """Pools that users log in to: those that have no other duty, once there is a scheduler."""
    if b.scheduler is None:
        return set()
    busy = queued(b) | lustre_servers(b) | managers(b) | cache_servers(b) | {b.scheduler.controllers}
    return {pool for pool in b.nodes if pool not in busy and not has_gpus(b, pool)}


def clients(b: Blueprint, store: Lustre) -> set[str]:
    """Pools that mount a Lustre file system: those it names, else those on its fabric that jobs run on."""
    if store.clients is not None:
        return set(store.clients)
    return {p for p in b.fabrics[store.fabric].connects if has_gpus(b, p) or p in queued(b)} - {store.servers, store.metadata}


def mounts(b: Blueprint, pool: str) -> Iterator[str]:
    """Names of the stores that the machines of a pool mount."""
    for name, store in b.storage.items():
        if store.site == b.nodes[pool].site and hasattr(store, "mount"):
            if isinstance(store, Lustre) and store.fabric not in b.fabrics:
                continue  # a mistake of the blueprint, beside which its jobs are judged all the same
            if not isinstance(store, Lustre) or pool in clients(b, store) & set(b.fabrics[store.fabric].connects):
                yield name


def job_nodes(b: Blueprint, job: Training) -> int:
    """Nodes that a job takes: all that are free, where it does not say."""
    pool = b.nodes[job.nodes]
    return job.count or max(1, pool.free)


def fsx_addresses(store: FsxLustre) -> int:
    """Addresses of a subnet that a file system takes at most: one for each 1,200 GiB and one for the metadata."""
    return 1 + ceil(store.capacity / (1200 * 2**30))


def model_of(b: Blueprint, job: Training) -> catalog.Shape:
    """The model of a job: the blueprint's own, or one of the catalog. Raises UnknownEntry."""
    own = b.models.get(job.model)
    return catalog.Shape(id=job.model, name=job.model, **own.figures(job.sequence)) if own else catalog.model(job.model)


def checkpoint_bytes(b: Blueprint, job: Training) -> int:
    """Size of one checkpoint of a job."""
    return BYTES_PER_PARAMETER[job.framework] * count(model_of(b, job), job.sequence).total


def write_rate(store: Storage) -> float | None:
    """Bytes per second that a store writes; None for a bucket, which nobody mounts."""
    if isinstance(store, Lustre):
        return store.write
    return store.capacity / 2**40 * store.throughput_mbps_per_tib * 10**6 if isinstance(store, FsxLustre) else None


def read_rate(store: Storage) -> float | None:
    """Bytes per second that a store reads; None for a bucket."""
    return store.read if isinstance(store, Lustre) else write_rate(store)


def mounted_at(b: Blueprint, pool: str, path: str) -> str | None:
    """The store below whose mount a path lies on the machines of a pool; None where it is on their own disks."""
    inside = [name for name in mounts(b, pool) if path == b.storage[name].mount or path.startswith(f"{b.storage[name].mount}/")]
    return max(inside, key=lambda name: len(b.storage[name].mount), default=None)


def job_input(b: Blueprint, job: Training) -> Input | None:
    """What a job's section says of its data, in the training room's numbers."""
    if (told := job.input) is None:
        return None
    stage, cache = told.stage, told.cache
    copy = stage and Stage(
        source=stage.source if stage.source.startswith("s3://") else None,
        target=stage.target,
        local=mounted_at(b, job.nodes, stage.target) is None,
        share=stage.share,
    )
    return Input(
        library=told.loader,
        size_bytes=told.size,
        sample_bytes=told.sample,
        loaded_bytes=told.loaded,
        prepare_s=told.prepare or 0.0,
        shards=told.shards,
        workers=told.workers,
        prefetch=told.prefetch,
        silence_s=told.silence,
        stage=copy,
        cache=_cache(b, cache) if cache else None,
    )


def _cache(b: Blueprint, cache: NvmeCache | RedisCache | MemcachedCache) -> Cache:
    if isinstance(cache, NvmeCache):
        return Cache("nvme", path=cache.path, bytes=cache.size)
    pool = b.nodes[cache.servers]
    return Cache(cache.kind, pool=cache.servers, servers=pool.count - len(set(pool.down)), memory_bytes=catalog.system(pool.system).memory_gib * 2**30)


def cache_servers(b: Blueprint) -> set[str]:
    """Pools that keep data of jobs in their memory."""
    return {job.input.cache.servers for job in b.training.values() if job.input and isinstance(job.input.cache, RedisCache | MemcachedCache)}


def bucket_prefix(b: Blueprint, name: str, store: S3) -> str:
    """What the bucket's name will begin with. One that is called as its section gets the cluster's name before it."""
    wanted = store.bucket_prefix or name
    return f"{b.name}-{name}" if wanted == name else wanted
