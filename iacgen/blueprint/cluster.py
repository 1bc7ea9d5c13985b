"""The whole blueprint."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from .base import WHOLE, Description, Name, PoolName, Section
from .fabrics import Fabric
from .models import ModelShape
from .nccl import Nccl
from .nodes import NodePool
from .scheduler import Scheduler
from .sites import Site
from .software import Software
from .storage import Storage
from .training import Training


class Blueprint(Section):
    """One cluster. Maps are keyed by name; their order never matters."""

    kind: Literal["Cluster"] = Field(description="Always Cluster", examples=["Cluster"])
    schema_: Annotated[Literal[1], WHOLE] = Field(alias="schema", description="Version of the blueprint language", examples=[1])
    name: Name = Field(description="Name of the cluster and of its output folder", examples=["superpod-h100", "lab"])
    description: Description | None = Field(None, description="What the cluster is for, in a line", examples=["Pre-training of the 70B models"])
    sites: dict[Name, Site] = Field(min_length=1, description="Where things stand", examples=[{"hall-a": {"kind": "on-prem", "rack": {"power": "42kW"}}}, {"ohio": {"kind": "aws", "region": "us-east-2", "zone": "us-east-2a"}}])
    nodes: dict[PoolName, NodePool] = Field(min_length=1, description="Node pools", examples=[{"gpu": {"site": "hall-a", "system": "dgx-h100", "count": 16}}])
    fabrics: dict[Name, Fabric] = Field({}, description="Networks", examples=[{"compute": {"site": "hall-a", "purpose": "compute", "connects": ["gpu"], "technology": "infiniband", "switch": "qm9700", "manager": {"kind": "opensm", "pool": "gpu"}}}])
    storage: dict[Name, Storage] = Field({}, description="File systems and object stores", examples=[{"fsx": {"kind": "fsx-lustre", "site": "ohio", "capacity": "48000GiB", "mount": "/fsx"}}])
    scheduler: Scheduler | None = Field(None, description="The scheduler", examples=[{"kind": "slurm", "version": "24.11", "controllers": "ctl"}])
    models: dict[Name, ModelShape] = Field({}, description="Language models that the catalog does not have, by their numbers", examples=[{"our-1b": {"layers": 16, "hidden": 2048, "heads": 16, "ffn_hidden": 8192, "vocabulary": 50304}}])
    training: dict[Name, Training] = Field({}, description="The jobs", examples=[{"pretrain": {"model": "llama-3-8b", "nodes": "gpu", "sequence": 8192, "global_batch": 128, "framework": "megatron"}}])
    nccl: Nccl | None = Field(None, description="Variables of NCCL beside those that follow from the fabrics", examples=[{"set": {"NCCL_IB_TIMEOUT": "22"}, "reason": "The fabric needs two minutes to route around a dead switch"}])
    software: Software = Field(Software(), description="Versions of what is installed", examples=[{"driver": "580", "nccl": "2.32.3"}])
