"""Fabrics: networks of one purpose that iacgen sizes and wires."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .base import CatalogId, Name, PoolName, Section, Subnet


class FabricManager(Section):
    """Who runs the subnet."""

    kind: Literal["ufm", "opensm"] = Field(description="UFM takes four ports of the fabric; opensm runs on the hosts named")
    pool: PoolName = Field(description="Pool whose hosts run it")


class Qos(Section):
    """The lossless class of a RoCE fabric; switch, host, NCCL and LNet must all say the same."""

    dscp: int = Field(26, ge=0, le=63, description="DSCP of RDMA traffic")
    priority: int = Field(3, ge=0, le=7, description="The one priority with flow control")
    cnp_dscp: int = Field(48, ge=0, le=63, description="DSCP of congestion notifications")
    cnp_priority: int = Field(6, ge=0, le=7, description="Priority of congestion notifications")


class Fabric(Section):
    """One network."""

    site: Name = Field(description="Where it lies")
    purpose: Literal["compute", "storage", "management"] = Field(description="What crosses it")
    connects: tuple[PoolName, ...] = Field(strict=False, min_length=1, description="Pools on it; the order is the address plan, append at the end")
    technology: Literal["infiniband", "roce", "ethernet"] = Field(description="What the links speak")
    topology: Literal["rail-fat-tree", "fat-tree"] = Field("fat-tree", description="How leaves and spines are joined")
    switch: CatalogId = Field(description="Catalog id of the switch")
    unit: int | None = Field(None, ge=1, le=1024, description="Nodes in a scalable unit of a rail-optimised fabric")
    numbering: Literal["by-unit", "round-robin"] = Field("by-unit", description="Host 1, 2, 3 side by side in one unit, or dealt over the units in turn")
    oversubscription: float = Field(1.0, ge=1.0, le=16.0, strict=False, description="Host bandwidth of a leaf over its uplink bandwidth")
    manager: FabricManager | None = Field(None, description="Subnet manager of an InfiniBand fabric")
    subnet: Subnet | None = Field(None, description="Addresses; by purpose by default")
    qos: Qos | None = Field(None, description="Lossless class of a RoCE fabric")
