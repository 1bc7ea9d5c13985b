"""The way of a job's data: settings of its loader, the copy that is made before it starts, servers that keep what was read."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import TYPE_CHECKING

from iacgen import units
from iacgen.render import fold
from iacgen.render import render as render_template
from iacgen.training.data import BUSY, KEPT_CPUS, PORTS

if TYPE_CHECKING:
    from iacgen.design.model import Design
    from iacgen.placement.project import Project
    from iacgen.training import Job

Setting = tuple[str, str | int, str]
"""A variable, its value, and why it has this one."""

_IO_THREADS = 8
"""More do not help Redis (redis.conf of 7.0, THREADED I/O)."""
_ADMIN_CLIENTS = 32
"""Connections beside those of the loaders: monitoring and people."""
_ITEM_OVERHEAD = 512
"""Bytes of a memcached item beside its value: its header and a key of at most 250 bytes (doc/protocol.txt)."""


def render(project: Project) -> dict[str, str]:
    """``training/<job>/data.env``; ``stage.sh`` where data is copied first; ``redis.conf`` or ``memcached.conf`` for servers."""
    tree = {}
    for name, job in project.jobs.items():
        folder, told = f"training/{name}", job.reading.input
        tree[f"{folder}/data.env"] = render_template("training/data.env.j2", job=name, settings=tuple(settings(job, project.design)))
        if told.stage:
            tree[f"{folder}/stage.sh"] = render_template("training/stage.sh.j2", job=name, stage=told.stage, apart=told.stage.share or not told.stage.local, bytes=_room(job))
        if told.cache and told.cache.servers:
            tree[f"{folder}/{told.cache.kind}.conf"] = render_template(f"training/{told.cache.kind}.conf.j2", **_server(job, project.design))
    return tree


def settings(job: Job, design: Design) -> Iterator[Setting]:
    """What a rank's environment says of its data."""
    it, spec = job.reading, job.spec
    if it.threads:
        yield "OMP_NUM_THREADS", it.threads, f"The {it.cpus} processors of a rank, less one for each worker of its loader"
    if spec.framework != "megatron":  # which takes them as arguments
        yield from _tf_data(job) if it.input.library == "tf.data" else _pytorch(job)
        yield _shards(job)
    if it.input.stage:
        yield "TRAIN_STAGED", it.input.stage.target, "Where stage.sh has put the data before the start" + (", on each node its part" if it.input.stage.share else "")
    yield from _cache(job, design)


def _shards(job: Job) -> Setting:
    """Parts that the data is read in."""
    it, copies = job.reading, job.spec.data_parallel
    if it.input.stage and it.input.stage.share:
        return "TRAIN_SHARDS", max(1, copies // job.spec.nodes), "Parts of what lies on a node, one for each copy of the model there; a rank reads the one of its data-parallel rank modulo this"
    return "TRAIN_SHARDS", copies, "Parts of the data set, one for each copy of the model; a rank reads the one of its data-parallel rank"


def _workers(job: Job) -> str:
    """Why a loader has as many workers."""
    it, each = job.reading, job.reading.samples_per_s / job.spec.data_parallel
    if it.input.workers:
        return "as the blueprint says"
    if it.workers < it.wanted_workers:
        return f"{it.wanted_workers} would be wanted, for {each:.3g} samples a second of {units.seconds(it.input.prepare_s)} each, but a rank has {it.cpus} processors, of which it keeps {KEPT_CPUS}, and {it.reader_shards or 'any number of'} files"
    if it.input.prepare_s:
        return f"{each:.3g} samples a second of {units.seconds(it.input.prepare_s)} each keep them busy for at most {BUSY:.0%} of their time"
    return "one prepares while another waits; nobody has told how long a sample takes"


def _ahead(job: Job) -> str:
    it = job.reading
    return "as the blueprint says" if it.input.prefetch else f"{units.seconds(it.input.silence_s)} without an answer of the store then pass unnoticed"


def _pytorch(job: Job) -> Iterator[Setting]:
    it, spec = job.reading, job.spec
    shared = f"what they hold takes {units.bytes_si(it.buffer_bytes)} of a node's /dev/shm"
    yield "TRAIN_LOADER_BATCH", spec.micro_batch, "batch_size of torch.utils.data.DataLoader: the micro batch of the plan"
    yield "TRAIN_LOADER_WORKERS", it.workers, f"num_workers, with persistent_workers and pin_memory: {_workers(job)}"
    yield "TRAIN_LOADER_PREFETCH", it.prefetch, f"prefetch_factor, batches of each worker: {_ahead(job)}; {shared}"


def _tf_data(job: Job) -> Iterator[Setting]:
    it, spec = job.reading, job.spec
    files = min(it.workers, it.reader_shards) if it.reader_shards else it.workers
    yield "TRAIN_LOADER_BATCH", spec.micro_batch, "batch_size of Dataset.batch: the micro batch of the plan"
    yield "TRAIN_LOADER_CALLS", it.workers, f"num_parallel_calls of Dataset.map and Dataset.interleave: {_workers(job)}"
    yield "TRAIN_LOADER_FILES", max(1, files), "cycle_length of Dataset.interleave: files that are read at once"
    yield "TRAIN_LOADER_PREFETCH", it.prefetch, f"buffer_size of Dataset.prefetch, batches: {_ahead(job)}; they take {units.bytes_si(it.buffer_bytes)} of a node's memory"


def _cache(job: Job, design: Design) -> Iterator[Setting]:
    cache = job.reading.input.cache
    if cache is None:
        return
    if cache.path:
        yield "TRAIN_CACHE", cache.path, "Folder on the node's NVMe for what was read"
        if kept := cache.bytes or job.reading.input.size_bytes:
            yield "TRAIN_CACHE_BYTES", kept, "The most that it should take there"
    elif cache.pool:
        hosts = servers(design, cache.pool)
        yield "TRAIN_CACHE", cache.kind, f"What keeps read data: {units.bytes_si(job.reading.cached_bytes or 0)} of memory in all"
        yield "TRAIN_CACHE_SERVERS", ",".join(f"{host}:{PORTS[cache.kind]}" for host in hosts), "A key lies on one of them: by its hash, in this order"


def servers(design: Design, pool: str) -> tuple[str, ...]:
    """Hosts of a pool that are in service."""
    return tuple(host for host in design.pools[pool].hosts if host not in design.pools[pool].down)


def _room(job: Job) -> int:
    """Bytes that the copy takes where one copy lies; 0 where nobody knows."""
    told = job.reading.input
    if told.size_bytes is None or told.stage is None or not told.stage.local:
        return 0
    return ceil(told.size_bytes / job.spec.nodes) if told.stage.share else told.size_bytes


def _server(job: Job, design: Design) -> dict[str, object]:
    """The words of a cache server's configuration."""
    it, cache = job.reading, job.reading.input.cache
    assert cache and cache.pool
    cpus = design.pools[cache.pool].system.cpus
    item = it.sample_bytes + _ITEM_OVERHEAD
    return {
        "job": job.name,
        "hosts": fold(servers(design, cache.pool)),
        "port": PORTS[cache.kind],
        "bytes": cache.server_bytes,
        "mib": cache.server_bytes // 2**20,
        "clients": it.readers * it.workers + _ADMIN_CLIENTS,
        "threads": min(_IO_THREADS, cpus),
        "item_mib": max(1, ceil(item / 2**20)),
    }
