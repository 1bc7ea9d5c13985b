"""Storage: parallel file systems and object stores, by what they hold and how fast they are."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from .base import AbsolutePath, Bytes, BytesPerSecond, Name, PoolName, Section


class Lustre(Section):
    """A Lustre file system on servers of one's own."""

    kind: Literal["lustre"]
    site: Name = Field(description="Where it stands")
    servers: PoolName = Field(description="Pool of object storage servers")
    metadata: PoolName = Field(description="Pool of metadata servers; the first two hold the management target")
    fabric: Name = Field(description="Fabric that carries it")
    fsname: Annotated[str, StringConstraints(pattern=r"^[a-zA-Z0-9_-]{1,8}$")] | None = Field(None, description="Lustre's own name, at most 8 characters; the section's name by default")
    capacity: Bytes = Field(description="Usable capacity")
    read: BytesPerSecond = Field(description="Read rate that the servers reach together")
    write: BytesPerSecond = Field(description="Write rate that the servers reach together")
    mount: AbsolutePath = Field(description="Where every node mounts it")


class FsxLustre(Section):
    """Amazon FSx for Lustre, persistent SSD of the second generation."""

    kind: Literal["fsx-lustre"]
    site: Name = Field(description="The AWS site")
    capacity: Bytes = Field(description="1,200 GiB, or a multiple of 2,400 GiB")
    throughput_mbps_per_tib: Literal[125, 250, 500, 1000] = Field(250, description="MB/s for each TiB")
    mount: AbsolutePath = Field(description="Where every node mounts it")
    exports_to: Name | None = Field(None, description="Object store that holds a copy of what is written")


class S3(Section):
    """A bucket for checkpoints and data sets."""

    kind: Literal["s3"]
    site: Name = Field(description="The AWS site")
    bucket_prefix: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{1,35}[a-z0-9]$")] | None = Field(None, description="Begin of the bucket's name; AWS appends what makes it unique")


Storage = Annotated[Lustre | FsxLustre | S3, Field(discriminator="kind")]
