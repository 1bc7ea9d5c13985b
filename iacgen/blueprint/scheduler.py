"""The scheduler."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from .base import Name, PoolName, Section


class Partition(Section):
    """A queue."""

    nodes: tuple[PoolName, ...] = Field(strict=False, min_length=1, description="Pools in it", examples=[["gpu"]])
    default: bool = Field(False, description="Jobs that name no partition go here", examples=[True])
    max_time: Annotated[str, StringConstraints(pattern=r"^([0-9]{1,3}-)?[0-2]?[0-9]:[0-5][0-9]:[0-5][0-9]$")] = Field("7-00:00:00", description="Longest run, as Slurm writes it", examples=["7-00:00:00", "12:00:00"])


SlurmKey = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Za-z0-9]{2,47}$")]
SlurmWord = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._:/=+-]{1,200}$")]
"""One word of a comma list."""


class Slurm(Section):
    """Slurm, with its files right for one version."""

    kind: Literal["slurm"] = Field(examples=["slurm"])
    version: Literal["22.05", "24.11"] = Field(description="Version that will read the files", examples=["24.11", "22.05"])
    controllers: PoolName = Field(description="Pool that runs slurmctld; the second host is a backup, which can take over only where both mount a file system that holds Slurm's state", examples=["ctl"])
    topology: Literal["tree", "block"] = Field("tree", description="What Slurm knows of the fabric: `tree`, its units and pods with NVLink domains as leaves, or `block`, the NVLink domains alone, from which jobs get whole blocks (24.05 and later)", examples=["tree", "block"])
    partitions: dict[Name, Partition] | None = Field(None, description="One partition named train over all GPU pools by default", examples=[{"train": {"nodes": ["gpu"], "default": True, "max_time": "7-00:00:00"}}])
    parameters: dict[SlurmKey, Annotated[tuple[SlurmWord, ...], Field(min_length=1, strict=False)]] = Field({}, description="Further words of slurm.conf by key; a list of words grows, a single value is a list of one", examples=[{"SchedulerParameters": ["bf_max_job_test=2000"], "TreeWidth": ["16"]}])


Scheduler = Slurm
