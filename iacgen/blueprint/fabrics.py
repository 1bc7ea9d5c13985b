"""Fabrics: networks of one purpose that iacgen sizes and wires."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from .base import CatalogId, Name, PoolName, Section, Subnet


InterfaceName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-zA-Z0-9_.-]{0,14}$")]
"""As Linux takes it: 15 characters at most."""


class FabricManager(Section):
    """Who runs the subnet."""

    kind: Literal["ufm", "opensm"] = Field(description="Who manages it; on hosts that the fabric does not connect, UFM takes four leaf ports and opensm one for each of two hosts", examples=["ufm", "opensm"])
    pool: PoolName = Field(description="Pool whose hosts run it; where planes or rails are subnets of their own, they are dealt over its hosts and their ports", examples=["ufm", "ctl"])


class Qos(Section):
    """The lossless class of a RoCE fabric; switch, host, NCCL and LNet must all say the same."""

    dscp: int = Field(26, ge=0, le=63, description="DSCP of RDMA traffic", examples=[26])
    priority: int = Field(3, ge=0, le=7, description="The one priority with flow control", examples=[3])
    cnp_dscp: int = Field(48, ge=0, le=63, description="DSCP of congestion notifications", examples=[48])
    cnp_priority: int = Field(6, ge=0, le=7, description="Priority of congestion notifications", examples=[6])


class GroupSize(Section):
    """The sizes of a dragonfly's group; what is not given makes it balanced, with the fewest switches that hold all planned hosts."""

    hosts: int | None = Field(None, ge=1, le=1024, description="Host ports of a switch", examples=[4])
    leaves: int | None = Field(None, ge=1, le=1024, description="Switches of a group that carry hosts", examples=[8])
    spines: int | None = Field(None, ge=1, le=1024, description="Spines of a group, of a dragonfly-plus", examples=[8])
    links: int | None = Field(None, ge=1, le=1024, description="Links to other groups, of each switch that has any", examples=[4])
    between: int | None = Field(None, ge=1, le=1024, description="Links between any two groups; by default all that the switches have are divided among the groups that are planned", examples=[4])


class Quoted(Section):
    """Figures of an offer or a published table; what differs from the design is told."""

    nodes: int | None = Field(None, ge=0, description="Nodes on the fabric", examples=[127])
    gpus: int | None = Field(None, ge=0, description="GPUs on the fabric", examples=[1016])
    tiers: int | None = Field(None, ge=0, description="Tiers of switches", examples=[2])
    switches: int | None = Field(None, ge=0, description="Switches of all tiers and planes", examples=[48])
    leaf: int | None = Field(None, ge=0, description="Leaf switches", examples=[32])
    spine: int | None = Field(None, ge=0, description="Spine switches", examples=[16])
    core: int | None = Field(None, ge=0, description="Core switches", examples=[0])
    host_cables: int | None = Field(None, ge=0, description="Cables from nodes and the fabric's manager to leaves", examples=[1020])
    leaf_spine_cables: int | None = Field(None, ge=0, description="Cables from leaves to spines", examples=[1024])
    spine_core_cables: int | None = Field(None, ge=0, description="Cables from spines to cores", examples=[0])


class Fabric(Section):
    """One network."""

    site: Name = Field(description="Where it lies", examples=["hall-a"])
    purpose: Literal["compute", "storage", "management", "in-band", "out-of-band"] = Field(description="What crosses it: RDMA between GPUs; files; logins, Slurm and Ansible over on-board ports or, in-band, over fast ones; consoles of machines and switches out-of-band", examples=["compute", "in-band"])
    connects: tuple[PoolName, ...] = Field(strict=False, min_length=1, description="Pools on it; the order is the address plan, append at the end", examples=[["gpu"], ["gpu", "oss", "mds"]])
    technology: Literal["infiniband", "roce", "ethernet"] = Field(description="What the links speak", examples=["infiniband", "roce"])
    topology: Literal["rail-fat-tree", "fat-tree", "rail-only", "dragonfly", "dragonfly-plus"] = Field("fat-tree", description="How the switches are joined", examples=["rail-fat-tree"])
    switch: CatalogId | None = Field(None, description="Catalog id of the switch; by default the one with which the fewest do", examples=["qm9700", "sn5600"])
    spine: CatalogId | None = Field(None, description="Catalog id of spines and cores where that is another switch", examples=["sn4600c"])
    unit: int | None = Field(None, ge=1, le=1024, description="Nodes in a scalable unit of a fabric by rails; by default as many as a leaf has ports for", examples=[32])
    units: tuple[Annotated[int, Field(ge=1, le=1024)], ...] = Field((), strict=False, max_length=4096, description="Nodes of each unit in turn where they are not full; those behind them are", examples=[[31, 32, 30]])
    numbering: Literal["by-unit", "round-robin"] = Field("by-unit", description="Host 1, 2, 3 side by side in one unit, or dealt over the units in turn", examples=["by-unit"])
    oversubscription: float = Field(1.0, ge=1.0, le=16.0, description="Host bandwidth of a leaf over its uplink bandwidth", examples=[1.0, 2.0])
    spine_oversubscription: float = Field(1.0, ge=1.0, le=16.0, description="The same of a spine, in three tiers", examples=[1.0, 2.0])
    tiers: Literal[2, 3] | None = Field(None, description="Tiers of switches; by default the fewest that do", examples=[3])
    pod: int | None = Field(None, ge=1, le=1024, description="Units, or leaves of a plain tree, in a pod of three tiers; by default equal pods, as few as there can be", examples=[4])
    spines: int | None = Field(None, ge=1, le=1024, description="Spines of a pod, or of the fabric; by default the fewest with equal links to every leaf", examples=[6])
    split: Literal["equal", "rotating"] = Field("equal", description="Equally many links of each leaf to each spine, or, rotating, one more to the spines next to it where they do not divide", examples=["rotating"])
    cores: Literal["contention-free", "fewest"] = Field("contention-free", description="Cores of their own for every spine of a pod, or as few as have the ports", examples=["contention-free"])
    rail_groups: bool = Field(False, description="Whether every rail has spines of its own, joined by cores alone", examples=[True])
    planes: int = Field(1, ge=1, le=8, description="Equal networks side by side, over which every port of a host is split", examples=[2])
    group: GroupSize | None = Field(None, description="The group of a dragonfly", examples=[{"hosts": 4, "leaves": 8, "links": 4}])
    manager: FabricManager | None = Field(None, description="Subnet manager of an InfiniBand fabric", examples=[{"kind": "ufm", "pool": "ufm"}])
    interface: InterfaceName | None = Field(None, description="What hosts call their bond or port on it; ranks of a job find each other over it where it is their network for plain TCP. By default the catalog's name of the port; a bond has none", examples=["bond0"])
    subnet: Subnet | None = Field(None, description="Addresses; by purpose by default", examples=["10.48.0.0/12"])
    qos: Qos | None = Field(None, description="Lossless class of a RoCE fabric", examples=[{"dscp": 26, "priority": 3}])
    os: Literal["cumulus", "sonic"] | None = Field(None, description="Operating system of the switches of a RoCE fabric; by default Cumulus where it runs on them, else SONiC", examples=["cumulus", "sonic"])
    quoted: Quoted | None = Field(None, description="Figures of an offer, to be held against the design", examples=[{"leaf": 32, "spine": 16}])
