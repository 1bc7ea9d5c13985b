"""The whole blueprint."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .base import Name, PoolName, Section
from .fabrics import Fabric
from .nodes import NodePool
from .scheduler import Scheduler
from .sites import Site
from .software import Software
from .storage import Storage
from .training import Training


class Blueprint(Section):
    """One cluster. Maps are keyed by name; their order never matters."""

    kind: Literal["Cluster"] = Field(description="Always Cluster")
    schema_: Literal[1] = Field(alias="schema", description="Version of the blueprint language")
    name: Name = Field(description="Name of the cluster and of its output folder")
    sites: dict[Name, Site] = Field(min_length=1, description="Where things stand")
    nodes: dict[PoolName, NodePool] = Field(min_length=1, description="Node pools")
    fabrics: dict[Name, Fabric] = Field({}, description="Networks")
    storage: dict[Name, Storage] = Field({}, description="File systems and object stores")
    scheduler: Scheduler | None = Field(None, description="The scheduler")
    training: dict[Name, Training] = Field({}, description="The jobs")
    software: Software = Field(Software(), description="Versions of what is installed")
