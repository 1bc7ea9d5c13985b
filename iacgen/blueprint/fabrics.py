"""Fabrics: networks of one purpose that iacgen sizes and wires."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .base import CatalogId, Name, PoolName, Section, Subnet


class FabricManager(Section):
    """Who runs the subnet."""

    kind: Literal["ufm", "opensm"] = Field(description="Who manages it; on hosts that the fabric does not connect, UFM takes four leaf ports and opensm one for each of two hosts", examples=["ufm", "opensm"])
    pool: PoolName = Field(description="Pool whose hosts run it", examples=["ufm", "ctl"])


class Qos(Section):
    """The lossless class of a RoCE fabric; switch, host, NCCL and LNet must all say the same."""

    dscp: int = Field(26, ge=0, le=63, description="DSCP of RDMA traffic", examples=[26])
    priority: int = Field(3, ge=0, le=7, description="The one priority with flow control", examples=[3])
    cnp_dscp: int = Field(48, ge=0, le=63, description="DSCP of congestion notifications", examples=[48])
    cnp_priority: int = Field(6, ge=0, le=7, description="Priority of congestion notifications", examples=[6])


class Fabric(Section):
    """One network."""

    site: Name = Field(description="Where it lies", examples=["hall-a"])
    purpose: Literal["compute", "storage", "management"] = Field(description="What crosses it", examples=["compute"])
    connects: tuple[PoolName, ...] = Field(strict=False, min_length=1, description="Pools on it; the order is the address plan, append at the end", examples=[["gpu"], ["gpu", "oss", "mds"]])
    technology: Literal["infiniband", "roce", "ethernet"] = Field(description="What the links speak", examples=["infiniband", "roce"])
    topology: Literal["rail-fat-tree", "fat-tree"] = Field("fat-tree", description="How leaves and spines are joined", examples=["rail-fat-tree"])
    switch: CatalogId = Field(description="Catalog id of the switch", examples=["qm9700", "sn5600"])
    unit: int | None = Field(None, ge=1, le=1024, description="Nodes in a scalable unit of a rail-optimised fabric", examples=[32])
    numbering: Literal["by-unit", "round-robin"] = Field("by-unit", description="Host 1, 2, 3 side by side in one unit, or dealt over the units in turn", examples=["by-unit"])
    oversubscription: float = Field(1.0, ge=1.0, le=16.0, description="Host bandwidth of a leaf over its uplink bandwidth", examples=[1.0, 2.0])
    manager: FabricManager | None = Field(None, description="Subnet manager of an InfiniBand fabric", examples=[{"kind": "ufm", "pool": "ufm"}])
    subnet: Subnet | None = Field(None, description="Addresses; by purpose by default", examples=["10.48.0.0/12"])
    qos: Qos | None = Field(None, description="Lossless class of a RoCE fabric", examples=[{"dscp": 26, "priority": 3}])
