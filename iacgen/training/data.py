"""How the data reaches the GPUs: what a job reads in a second, with how many workers, and what lies where for it.

A step takes one global batch, evenly over the step. Each sample is read by every rank that loads it for itself: of Megatron those
of tensor rank 0 on the first and the last pipeline stage, in each context-parallel rank (``is_dataset_built_on_rank`` of
pretrain_gpt.py, ``get_batch_on_this_tp_rank`` and ``get_batch_on_this_cp_rank`` of Megatron-LM, 2026-08); elsewhere every rank but
those of inner stages (DeepSpeed's pipeline engine).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from iacgen.training.spec import JobSpec

Library = Literal["pytorch", "tf.data"]

WIDE_VOCABULARY = 65_500
"""From this vocabulary on a token takes four bytes on disk instead of two (``DType.optimal_dtype`` of megatron-core 0.16)."""

LOADED_TOKEN_BYTES = {"megatron": 28}
"""Tokens, labels and positions of 8 bytes and a loss mask of 4 (``GPTDataset.__getitem__`` of megatron-core 0.16, with its attention
mask switched off)."""
LOADED_PAIR_BYTES = 16
"""Tokens and labels as torch's int64, where the script is the user's."""

BUSY = 0.75
"""Share of its time that a worker should prepare samples at most: a judgement, so that slow samples are caught up."""
LEAST_WORKERS = 2
"""One prepares while another waits for the store; Megatron's own default."""
LEAST_PREFETCH = 2
"""PyTorch's own default, batches a worker."""
KEPT_CPUS = 2
"""Logical processors that a rank keeps: one for its Python, one for NCCL's proxy thread. A judgement."""
ASSUMED_SILENCE_S = 1.0
"""Longest time without an answer of the store that the prefetched batches bridge. A judgement."""
USABLE_NVME = 0.9
"""Of the node's NVMe, what a file system has for files. A judgement."""
USABLE_MEMORY = {"redis": 0.75, "memcached": 0.9}
"""Of a cache server's memory. Redis: a quarter is kept, as Amazon ElastiCache's reserved-memory-percent is by default; memcached, whose
limit counts slabs only: a judgement."""
LARGEST_ITEM = {"redis": 512 * 2**20, "memcached": 2**30 - 2**20}
"""Bytes of one value: proto-max-bulk-len of Redis 7.0; memcached 1.6 takes items of 1 GiB, key and header among them."""
PORTS = {"redis": 6379, "memcached": 11211}


@dataclass(frozen=True)
class Cache:
    """Where read data is kept nearer. ``path`` is a folder on each node's NVMe and ``bytes`` what it keeps there, None for all of the
    data; else ``servers`` hosts of ``pool`` keep it in their memory, of which each has ``memory_bytes`` installed."""

    kind: Literal["nvme", "redis", "memcached"]
    path: str | None = None
    bytes: int | None = None
    pool: str | None = None
    servers: int = 0
    memory_bytes: int = 0

    @property
    def server_bytes(self) -> int:
        """What one server keeps."""
        return int(self.memory_bytes * USABLE_MEMORY[self.kind]) if self.servers else 0


@dataclass(frozen=True)
class Stage:
    """A copy that is made before the job starts: of the objects at ``source`` (None: told when the job is submitted) to ``target``,
    which lies on the NVMe of each node where ``local``. ``share`` means that each node has its part of the objects and no more."""

    source: str | None
    target: str
    local: bool
    share: bool = False


@dataclass(frozen=True)
class Input:
    """What a blueprint says of a job's data; None is what nobody says.

    ``sample_bytes`` is one sample as it lies on the store and ``loaded_bytes`` as it lies in memory, ``prepare_s`` the processor time
    that it takes in between. ``shards`` are the files of the data set, ``size_bytes`` all of them together.
    """

    library: Library = "pytorch"
    size_bytes: int | None = None
    sample_bytes: int | None = None
    loaded_bytes: int | None = None
    prepare_s: float = 0.0
    shards: int | None = None
    workers: int | None = None
    prefetch: int | None = None
    silence_s: float = ASSUMED_SILENCE_S
    stage: Stage | None = None
    cache: Cache | None = None


@dataclass(frozen=True)
class Reading:
    """The data path of one job.

    ``copies`` ranks read each sample, ``readers`` ranks read at all, ``node_readers`` of them on one node at most. ``bytes_per_s`` is
    what all of them take together. ``cpus`` are the logical processors of a rank, None where nobody knows them. ``wanted_workers`` is what the samples need and
    ``workers`` what is planned. ``prefetch`` counts batches, for each worker of PyTorch and for the whole pipeline of tf.data.
    ``buffer_bytes`` of memory hold them on a node; ``node_bytes`` lie on its NVMe, None where the data set's size is unknown.
    """

    input: Input
    samples_per_s: float
    sample_bytes: int
    loaded_bytes: int
    copies: int
    readers: int
    node_readers: int
    bytes_per_s: float
    cpus: int | None
    wanted_workers: int
    workers: int
    prefetch: int
    buffer_bytes: int
    node_bytes: int | None

    @property
    def reader_shards(self) -> int | None:
        """Files for each copy of the model, rounded down; None where nobody says how many there are."""
        return self.input.shards // (self.readers // self.copies) if self.input.shards else None

    @property
    def threads(self) -> int | None:
        """Threads for a rank's own work on its processors: those that its loader leaves."""
        return max(1, self.cpus - self.workers) if self.cpus else None

    @property
    def cached_bytes(self) -> int | None:
        """What the servers of the cache keep together; None where there are none."""
        cache = self.input.cache
        return cache.servers * cache.server_bytes if cache and cache.servers else None


def reading(spec: JobSpec, step_s: float) -> Reading:
    """The data path of a job whose steps take ``step_s``."""
    told = spec.input or Input()
    copies = sample_copies(spec)
    readers = spec.data_parallel * copies
    per_s = spec.global_batch / step_s
    cpus = spec.host_cpus // spec.gpus_per_node if spec.host_cpus else None
    loaded = told.loaded_bytes or (told.sample_bytes if told.sample_bytes else spec.sequence * LOADED_TOKEN_BYTES.get(spec.framework, LOADED_PAIR_BYTES))
    one = told.sample_bytes or token_bytes(spec)
    each = per_s / spec.data_parallel  # samples a second of one reader
    wanted = max(LEAST_WORKERS, ceil(each * told.prepare_s / BUSY))
    workers = told.workers or _workers(spec, told, wanted, cpus)
    batches = each / spec.micro_batch * told.silence_s
    prefetch = told.prefetch or max(LEAST_PREFETCH, ceil(batches / workers if told.library == "pytorch" else batches))
    held = workers * prefetch + 1 if told.library == "pytorch" else prefetch + workers  # one more batch is pinned or in work
    near = max(1, spec.gpus_per_node // spec.tensor) if spec.framework == "megatron" else spec.gpus_per_node
    return Reading(
        input=told,
        samples_per_s=per_s,
        sample_bytes=one,
        loaded_bytes=loaded,
        copies=copies,
        readers=readers,
        node_readers=min(near, readers),
        bytes_per_s=per_s * one * copies,
        cpus=cpus,
        wanted_workers=wanted,
        workers=workers,
        prefetch=prefetch,
        buffer_bytes=min(near, readers) * held * spec.micro_batch * loaded,
        node_bytes=node_bytes(told, spec.nodes),
    )


def sample_copies(spec: JobSpec) -> int:
    """Ranks that read one and the same sample."""
    inside = 1 if spec.framework == "megatron" else spec.tensor
    return inside * spec.context * min(2, spec.pipeline)


def token_bytes(spec: JobSpec) -> int:
    """A sequence of tokens on disk and the token behind it, which is the last one's label."""
    return (spec.sequence + 1) * (2 if spec.model.vocabulary < WIDE_VOCABULARY else 4)


def node_bytes(told: Input, nodes: int) -> int | None:
    """What a node keeps on its NVMe: 0 where nothing is kept there, None where the size of the data set is not told."""
    kept = 0
    if told.stage and told.stage.local:
        if told.size_bytes is None:
            return None
        kept += ceil(told.size_bytes / nodes) if told.stage.share else told.size_bytes
    if told.cache and told.cache.kind == "nvme":
        wanted = told.cache.bytes or told.size_bytes
        if wanted is None:
            return None
        kept += wanted
    return kept


def _workers(spec: JobSpec, told: Input, wanted: int, cpus: int | None) -> int:
    """As many as the samples need, but no more than the rank has processors for and files to read."""
    most = max(1, cpus - KEPT_CPUS) if cpus else wanted
    if told.shards:
        most = min(most, max(1, told.shards // spec.data_parallel))
    return min(wanted, most)
