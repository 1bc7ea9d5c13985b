"""Servers and cloud machine types: processors, memory, adapters by purpose, height and power."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, StringConstraints, model_validator

from iacgen.catalog.entry import Entry, EntryId, Facts, Text

Purpose = Literal["compute", "storage", "management", "in-band", "out-of-band"]
DeviceName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-zA-Z0-9_]{0,14}$")]  # a P before the PCI domain: ibP2p3s0
SocketName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9-]{0,19}$")]
PciAddress = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$")]


class HostNic(Facts):
    """The ports of a server that serve one purpose. Where names are given there is one a port, in rail order: the compute port
    number i is the one nearest to GPU i. No names means that they are not known or that software must not rely on them.

    Ports lie in the cages of their adapters, one in each, unless ``cages`` tells which of them share one: the eight adapters of a
    DGX H100 end in four twin-port cages."""

    nic: EntryId
    count: PositiveInt = Field(description="ports that carry this purpose, not cards")
    gbps: PositiveInt = Field(description="rate at which a port runs in this server")
    rdma_names: tuple[DeviceName, ...] = ()
    interfaces: tuple[DeviceName, ...] = Field(default=(), description="network device names, 15 characters at most (Linux)")
    pci: tuple[PciAddress, ...] = ()
    cages: tuple[PositiveInt, ...] = Field(default=(), description="number of the cage of each port, where ports share cages")
    sockets: tuple[SocketName, ...] = Field(default=(), description="what the maker calls the socket of each port, for who stands before the machine")

    @model_validator(mode="after")
    def _cages_are_alike(self) -> HostNic:
        if self.cages and (len(self.cages) != self.count or len({self.cages.count(cage) for cage in self.cages}) != 1):
            raise ValueError(f"cages must give each of {self.count} ports the number of its cage, and each cage as many ports")
        return self

    @property
    def cage_of(self) -> tuple[int, ...]:
        """The cage of each port, from 1."""
        return self.cages or tuple(range(1, self.count + 1))

    @property
    def cage_ports(self) -> int:
        """Ports that share a cage."""
        return self.cages.count(self.cages[0]) if self.cages else 1

    @model_validator(mode="after")
    def _one_name_a_port(self) -> HostNic:
        for field in ("rdma_names", "interfaces", "pci", "sockets"):
            names = getattr(self, field)
            if names and (len(names) != self.count or len(set(names)) != self.count):
                raise ValueError(f"{field} must name {self.count} different ports, got {', '.join(names)}")
        return self


class CloudType(Facts):
    """What a cloud's machine type adds to the server it runs on."""

    provider: EntryId
    vcpus: PositiveInt
    memory_mib: PositiveInt = Field(description="as the provider's API states it; the guest sees a little less")
    network_gbps: PositiveFloat = Field(description="all cards together")
    network_cards: PositiveInt
    efa_interfaces: NonNegativeInt
    efa_card0: bool = Field(description="network card 0 carries an EFA besides the primary interface")
    capacity_block: bool = Field(description="can be bought as a capacity block")
    on_demand_hour: PositiveFloat | None = Field(default=None, description="US dollars that an hour costs on demand, under Linux, in the region of the source")
    capacity_block_hour: PositiveFloat | None = Field(default=None, description="the same in a capacity block")
    regions: tuple[EntryId, ...] = Field(default=(), description="regions where it was sold at the date of the source; none: not read")


class System(Entry):
    """One server model or cloud machine type."""

    kind: Literal["system"]
    vendor: Text
    generic: bool = Field(default=False, description="a class of machine, not a product: its figures are assumptions to replace")
    gpu: EntryId | None = None
    gpus: NonNegativeInt
    tpu: EntryId | None = None
    tpus: NonNegativeInt = Field(default=0, description="TPU chips of this host; hosts of a slice are joined by the chips' own links")
    nvlink_domain_gpus: NonNegativeInt = Field(description="GPUs that reach each other over NVLink; 0 without GPUs")
    gpu_numa: tuple[NonNegativeInt, ...] = Field(default=(), description="CPU socket of each GPU, GPUs in the driver's order")
    sockets: PositiveInt
    cores_per_socket: PositiveInt
    threads_per_core: PositiveInt
    memory_gib: PositiveInt = Field(description="installed memory; what the system reports is a few percent less")
    rack_units: PositiveInt | None = None
    weight_kg: PositiveFloat | None = Field(default=None, description="with its power supplies")
    power_kw: PositiveFloat | None = Field(default=None, description="most that the server draws")
    power_kw_typical: PositiveFloat | None = Field(default=None, description="what it draws at work, where its maker gives it besides the most")
    inlet_c: tuple[float, float] | None = Field(default=None, description="coldest and warmest air at which it may work, degrees Celsius")
    cooling: Literal["air", "hybrid"] = Field(default="air", description="hybrid: liquid for the processors, air for the rest")
    nics: dict[Purpose, HostNic] = {}
    local_nvme_tb: NonNegativeFloat | None = Field(default=None, description="NVMe for data, without the boot drives, decimal TB")
    cloud: CloudType | None = None

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> System:
        if (self.gpu is None) != (self.gpus == 0):
            raise ValueError("gpu and gpus must be given together")
        if (self.tpu is None) != (self.tpus == 0):
            raise ValueError("tpu and tpus must be given together")
        if self.gpu and self.tpu:
            raise ValueError("a server has GPUs or TPUs, not both")
        if self.gpu_numa and len(self.gpu_numa) != self.gpus:
            raise ValueError(f"gpu_numa must have one socket for each of {self.gpus} GPUs")
        if any(socket >= self.sockets for socket in self.gpu_numa):
            raise ValueError(f"gpu_numa names a socket that is not there: {self.sockets} sockets, counted from 0")
        if self.inlet_c and not self.inlet_c[0] < self.inlet_c[1]:
            raise ValueError("inlet_c is the coldest, then the warmest")
        if self.nvlink_domain_gpus and self.gpus and self.nvlink_domain_gpus % self.gpus:
            raise ValueError("an NVLink domain is a whole number of servers")
        if self.cloud and self.cloud.vcpus != self.cpus:
            raise ValueError(f"cloud.vcpus {self.cloud.vcpus} is not sockets x cores x threads = {self.cpus}")
        return self

    @property
    def nvlink_domain_servers(self) -> int:
        """Servers whose GPUs reach each other over NVLink; more than one share a rack with NVLink switches of its own."""
        return max(1, self.nvlink_domain_gpus // self.gpus) if self.gpus else 1

    @property
    def cpus(self) -> int:
        """Logical processors, as Slurm's CPUs= counts them."""
        return self.sockets * self.cores_per_socket * self.threads_per_core

    @property
    def memory_mib(self) -> int:
        """Installed memory in MiB. A scheduler must promise less: kernel and firmware keep a few percent."""
        return self.cloud.memory_mib if self.cloud else self.memory_gib * 1024
