"""How a job's data gets from its store to the GPUs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from .base import AbsolutePath, Bytes, PoolName, Seconds, Section

ObjectSource = Annotated[str, StringConstraints(pattern=r"^(s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9._=-]{1,100}){0,8}|[a-z]([a-z0-9-]{0,30}[a-z0-9])?)$")]
"""A bucket and the prefix of its objects, or the name of a storage section."""


class NvmeCache(Section):
    """Read data stays on the NVMe of the node that read it."""

    kind: Literal["nvme"] = Field(examples=["nvme"])
    path: AbsolutePath = Field(description="Folder on each node's NVMe", examples=["/raid/cache"])
    size: Bytes | None = Field(None, description="What a node keeps; the whole data set by default", examples=["8TB"])


class RedisCache(Section):
    """Read data stays in the memory of Redis servers."""

    kind: Literal["redis"] = Field(examples=["redis"])
    servers: PoolName = Field(description="Pool that runs redis-server", examples=["cache"])


class MemcachedCache(Section):
    """Read data stays in the memory of memcached servers."""

    kind: Literal["memcached"] = Field(examples=["memcached"])
    servers: PoolName = Field(description="Pool that runs memcached", examples=["cache"])


class Stage(Section):
    """Objects that are copied before the job starts."""

    source: ObjectSource = Field(description="Bucket and prefix, or an object store of storage, whose bucket is told when the job is submitted", examples=["s3://acme-corpus/v3", "corpus"])
    target: AbsolutePath = Field(description="Folder that takes the copy: of a store that the nodes mount, or of each node's NVMe", examples=["/raid/corpus"])
    share: bool = Field(False, description="Each node copies its part of the objects to its NVMe, not all of them", examples=[True])


class Input(Section):
    """How the data gets to the GPUs."""

    loader: Literal["pytorch", "tf.data"] = Field("pytorch", description="What loads it", examples=["pytorch", "tf.data"])
    size: Bytes | None = Field(None, description="The data set as it lies on its store", examples=["12TB"])
    sample: Bytes | None = Field(None, description="One sample as it lies there; a sequence of tokens by default", examples=["150kB"])
    loaded: Bytes | None = Field(None, description="One sample in memory; as it lies on the store by default", examples=["600kB"])
    prepare: Seconds | None = Field(None, description="Processor time that a sample takes, such as for decoding; none by default", examples=["8ms"])
    shards: int | None = Field(None, ge=1, le=100_000_000, description="Files of the data set", examples=[4096])
    workers: int | None = Field(None, ge=1, le=1024, description="Processes or threads that prepare samples, for each rank that loads; as many as the samples need by default", examples=[8])
    prefetch: int | None = Field(None, ge=1, le=10_000, description="Batches read ahead: by each worker of PyTorch, by the whole pipeline of tf.data", examples=[4])
    silence: Seconds = Field(1, description="Time without an answer of the store that what is read ahead should bridge", examples=["5s"])
    stage: Stage | None = Field(None, description="Copy of objects that is made before the job starts", examples=[{"source": "s3://acme-corpus/v3", "target": "/raid/corpus"}])
    cache: Annotated[NvmeCache | RedisCache | MemcachedCache, Field(discriminator="kind")] | None = Field(None, description="Where read data is kept nearer", examples=[{"kind": "nvme", "path": "/raid/cache"}])
