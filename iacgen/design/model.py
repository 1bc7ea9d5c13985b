"""The designed cluster: pools of hosts, fabrics of switch groups, storage, scheduler, racks.

Everything is frozen. A large cluster stays small here: hosts are a pool and a number, cables are a rule; names, ports and
addresses are worked out when a target asks. ``origin`` is the blueprint path that caused a thing.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from ..catalog import Gpu, System
from .facility import Facility
from .fabric.model import Fabric

if TYPE_CHECKING:
    from ..blueprint.fabrics import Fabric as WantedFabric

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class ExistingNetwork:
    """A network of the cloud account that a site moves into: ids of the VPC and of its subnet, and the subnet's range."""

    vpc: str
    subnet: str
    addresses: str


@dataclass(frozen=True)
class Site:
    """A hall or a cloud zone. What follows ``domain`` is empty on-prem.

    ``security_group`` is the id of a group that exists, None where one is made. ``member_ports`` are the TCP ports that members of
    the group open to each other, first and last; None where all traffic passes among them.
    """

    name: str
    kind: Literal["on-prem", "aws"]
    domain: str
    region: str = ""
    zone: str = ""
    network: str = ""
    admin_networks: tuple[str, ...] = ()
    existing: ExistingNetwork | None = None
    security_group: str | None = None
    member_ports: tuple[tuple[int, int], ...] | None = None


@dataclass(frozen=True)
class Capacity:
    """How cloud machines are bought; ``id`` is the reservation's, or None on demand and on spot."""

    kind: Literal["on-demand", "spot", "capacity-reservation", "capacity-block"]
    id: str | None


@dataclass(frozen=True)
class Pool:
    """``count`` hosts of one system, numbered from 1 with ``width`` digits; ``spares`` of them are kept free.

    ``placement_group`` is None where nobody chose: then it follows from the system and the capacity. ``efa`` counts the EFA
    interfaces that each machine gets; the compute ports of ``system`` are those in use.
    """

    name: str
    site: str
    system: System
    gpu: Gpu | None
    count: int
    width: int
    spares: int
    down: frozenset[str]
    capacity: Capacity
    origin: Path
    placement_group: bool | None = None
    efa: int = 0
    grow_to: int = 0

    @property
    def only_planned(self) -> bool:
        """Whether no file is written for what runs on these hosts: their accelerators are not NVIDIA's."""
        return bool(self.system.tpu) or (self.gpu is not None and self.gpu.vendor != "NVIDIA")

    @property
    def planned(self) -> int:
        """How many hosts fabrics and racks are laid out for."""
        return max(self.count, self.grow_to)

    @property
    def free(self) -> int:
        """How many hosts jobs may take: those that are up, less the spares that do not stand in for one that is down."""
        return self.count - max(self.spares, len(self.down))

    def host(self, index: int) -> str:
        """Name of host ``index``, counted from 0."""
        return f"{self.name}{index + 1:0{self.width}d}"

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """All host names in numeric order."""
        return tuple(self.host(i) for i in range(self.count))

    def index(self, host: str) -> int:
        """The number of ``host``, counted from 0."""
        return int(host.removeprefix(self.name)) - 1


@dataclass(frozen=True)
class Lustre:
    """A Lustre file system. Rates in bytes per second, capacity in bytes; ``mgs_nids`` of the two management servers.

    ``net`` is the LNet network of its fabric; ``clients`` are the pools that mount it, by name.
    """

    name: str
    site: str
    mount: str
    fsname: str
    servers: tuple[str, ...]
    metadata: tuple[str, ...]
    fabric: str
    capacity_bytes: int
    read_bytes_per_s: int
    write_bytes_per_s: int
    net: str
    mgs_nids: tuple[str, ...]
    clients: tuple[str, ...]
    origin: Path
    kind: Literal["lustre"] = "lustre"


@dataclass(frozen=True)
class FsxLustre:
    """Amazon FSx for Lustre."""

    name: str
    site: str
    mount: str
    capacity_gib: int
    throughput_mbps_per_tib: int
    exports_to: str | None
    origin: Path
    kind: Literal["fsx-lustre"] = "fsx-lustre"

    @property
    def write_bytes_per_s(self) -> int:
        """What the declared throughput comes to, bytes per second."""
        return self.capacity_gib * self.throughput_mbps_per_tib * 10**6 // 1024


@dataclass(frozen=True)
class S3:
    """A bucket."""

    name: str
    site: str
    bucket_prefix: str
    origin: Path
    kind: Literal["s3"] = "s3"


Storage = Lustre | FsxLustre | S3


@dataclass(frozen=True)
class Partition:
    """A queue over whole pools."""

    name: str
    pools: tuple[str, ...]
    default: bool
    max_time: str


@dataclass(frozen=True)
class Scheduler:
    """Slurm: its version, the hosts that run slurmctld in order, its queues, the plugin that it sees the fabric through."""

    version: str
    site: str
    controllers: tuple[str, ...]
    partitions: tuple[Partition, ...]
    origin: Path
    kind: Literal["slurm"] = "slurm"
    parameters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # key of slurm.conf → further words
    topology: Literal["tree", "block"] = "tree"


@dataclass(frozen=True)
class Software:
    """Versions that files are written for."""

    driver: str
    nccl: str
    deepspeed: str
    megatron: str
    lustre: str
    time_servers: tuple[str, ...]


@dataclass(frozen=True)
class Variable:
    """A variable of NCCL that somebody sets by hand, and why; no reason is an empty one."""

    name: str
    value: str
    reason: str


@dataclass(frozen=True)
class Design:
    """The whole cluster."""

    name: str
    sites: Mapping[str, Site]
    pools: Mapping[str, Pool]
    fabrics: Mapping[str, Fabric]
    storage: Mapping[str, Storage]
    scheduler: Scheduler | None
    software: Software
    facilities: Mapping[str, Facility]
    descriptions: Mapping[Path, str] = field(default_factory=dict)  # blueprint path of the cluster, a pool or a job → its line for people
    nccl: tuple[Variable, ...] = ()
    wanted: Mapping[str, WantedFabric] = field(default_factory=dict)  # what the blueprint says of each fabric

    @cached_property
    def room(self) -> Mapping[str, Mapping[str, int]]:
        """Fabric → pool → up to how many of its hosts no laid cable moves; of the fabrics whose switches are ours."""
        from .fabric.room import room

        return {name: room(fabric, self.wanted[name], self.pools) for name, fabric in self.fabrics.items() if name in self.wanted and fabric.tiers}

    def fabric_of(self, pool: str, purpose: str) -> Fabric | None:
        """The fabric of this purpose that a pool is on; None where there is none."""
        return next((f for f in self.fabrics.values() if f.purpose == purpose and pool in f.pools), None)

    def pool_of(self, host: str) -> Pool:
        """The pool that a host belongs to. Raises KeyError."""
        return self.pools[host.rstrip("0123456789")]

    def management_of(self, pool: str) -> Fabric | None:
        """The fabric over which people, Ansible and Slurm reach a pool: in-band where it is on one, else management."""
        return self.fabric_of(pool, "in-band") or self.fabric_of(pool, "management")

    def carrier_of(self, pool: str) -> Fabric | None:
        """The fabric that plain TCP between ranks of a pool takes: the management network, or compute where that is Ethernet or all there is."""
        compute = self.fabric_of(pool, "compute")
        return compute if compute and compute.technology in ("ethernet", "efa") else self.management_of(pool) or compute

    def address(self, host: str, purpose: str = "", port: int = 0) -> ipaddress.IPv4Address | None:
        """Planned address of a host's port on the fabric of this purpose, by default the one that it is reached over; None where no
        such fabric is planned."""
        pool = self.pool_of(host)
        fabric = self.fabric_of(pool.name, purpose) if purpose else self.management_of(pool.name)
        return fabric.address(pool.name, pool.index(host), port) if fabric and fabric.blocks else None

    @cached_property
    def gpus(self) -> int:
        """GPUs of all pools."""
        return sum(p.count * p.system.gpus for p in self.pools.values())
