"""Storage: parallel file systems and object stores, by what they hold and how fast they are."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from .base import WHOLE, AbsolutePath, Bytes, BytesPerSecond, Name, PoolName, Section


class Lustre(Section):
    """A Lustre file system on servers of one's own."""

    kind: Literal["lustre"] = Field(examples=["lustre"])
    site: Name = Field(description="Where it stands", examples=["hall-a"])
    servers: PoolName = Field(description="Pool of object storage servers", examples=["oss"])
    metadata: PoolName = Field(description="Pool of metadata servers; the first two hold the management target", examples=["mds"])
    fabric: Name = Field(description="Fabric that carries it", examples=["storage"])
    fsname: Annotated[str, StringConstraints(pattern=r"^[a-zA-Z0-9_-]{1,8}$")] | None = Field(None, description="Lustre's own name, at most 8 characters; the section's name by default", examples=["scratch"])
    capacity: Bytes = Field(description="Usable capacity", examples=["10PB"])
    read: BytesPerSecond = Field(description="Read rate that the servers reach together", examples=["200GB/s"])
    write: BytesPerSecond = Field(description="Write rate that the servers reach together", examples=["100GB/s"])
    mount: AbsolutePath = Field(description="Where the clients mount it", examples=["/scratch"])
    clients: tuple[PoolName, ...] | None = Field(None, strict=False, description="Pools that mount it; by default those on its fabric that have GPUs or are in a partition", examples=[["gpu", "login"]])


def lustre_name(section: str, wanted: Lustre) -> str:
    """What Lustre calls the file system: at most eight characters, none of them a dash at the end (mkfs.lustre(8))."""
    return wanted.fsname or section[:8].rstrip("-")


class FsxLustre(Section):
    """Amazon FSx for Lustre, persistent SSD of the second generation."""

    kind: Literal["fsx-lustre"] = Field(examples=["fsx-lustre"])
    site: Name = Field(description="The AWS site", examples=["ohio"])
    capacity: Bytes = Field(description="1,200 GiB, or a multiple of 2,400 GiB", examples=["1200GiB", "48000GiB"])
    throughput_mbps_per_tib: Annotated[Literal[125, 250, 500, 1000], WHOLE] = Field(250, description="MB/s for each TiB", examples=[250])
    mount: AbsolutePath = Field(description="Where every machine of the site mounts it", examples=["/scratch"])
    exports_to: Name | None = Field(None, description="Object store that holds a copy of what is written", examples=["checkpoints"])


class S3(Section):
    """A bucket for checkpoints and data sets."""

    kind: Literal["s3"] = Field(examples=["s3"])
    site: Name = Field(description="The AWS site", examples=["ohio"])
    bucket_prefix: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{1,35}[a-z0-9]$")] | None = Field(None, description="Begin of the bucket's name; AWS appends what makes it unique", examples=["acme-checkpoints"])


Storage = Annotated[Lustre | FsxLustre | S3, Field(discriminator="kind")]
