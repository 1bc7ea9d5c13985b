"""Clouds: the rules that a provider's own validators do not know, as data."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from iacgen.catalog.entry import Entry, EntryId, Facts, Text

PositiveTuple = tuple[PositiveInt, ...]


class PortRange(Facts):
    """TCP ports from first to last, both included."""

    first: PositiveInt
    last: PositiveInt


class FsxLustre(Facts):
    """FSx for Lustre: which capacities and throughputs exist."""

    deployment_type: Text
    storage_type: Text
    lustre_version: Text
    capacities_gib: PositiveTuple = Field(description="allowed capacities below the first step")
    capacity_step_gib: PositiveInt = Field(description="above them, any multiple of this")
    throughputs_mb_s_per_tib: PositiveTuple
    efa_step_gib_by_throughput: dict[PositiveInt, PositiveInt] = Field(description="with EFA, capacity is a multiple of this")
    ports: tuple[PortRange, ...] = Field(description="TCP between clients and servers")

    def capacity_step(self, throughput: int, *, efa: bool) -> int:
        """Step of the capacity in GiB at this throughput (MB/s per TiB).

        Raises ValueError when the file system does not come with that throughput.
        """
        if throughput not in self.throughputs_mb_s_per_tib:
            raise ValueError(f"throughput {throughput} is none of {', '.join(map(str, self.throughputs_mb_s_per_tib))}")
        return self.efa_step_gib_by_throughput[throughput] if efa else self.capacity_step_gib

    def capacity_fits(self, gib: int, throughput: int, *, efa: bool) -> bool:
        """Whether a file system of this capacity in GiB can be created. Raises ValueError as ``capacity_step`` does."""
        step = self.capacity_step(throughput, efa=efa)
        return gib > 0 and gib % step == 0 or (not efa and gib in self.capacities_gib)

    @model_validator(mode="after")
    def _every_throughput_has_a_step(self) -> FsxLustre:
        if set(self.efa_step_gib_by_throughput) != set(self.throughputs_mb_s_per_tib):
            raise ValueError("efa_step_gib_by_throughput must have one step for each throughput")
        return self


class Efa(Facts):
    """How Elastic Fabric Adapter interfaces are attached to an instance."""

    primary_interface_type: Text = Field(description="card 0, device 0: the only interface with an address")
    interface_type: Text = Field(description="all others")
    card0_device_index: NonNegativeInt = Field(description="device index of the EFA on card 0, beside the primary interface")
    device_index: NonNegativeInt = Field(description="device index of the EFA on every other card")
    security_group_to_itself: bool = Field(description="the group must allow all traffic in and out, to itself")
    libfabric_provider: Text


class CapacityBlock(Facts):
    """Machines bought for a fixed time."""

    market_type: Text
    reservation_id_prefix: Text
    placement_group: bool = Field(description="whether a placement group may be named besides the reservation")
    most_machines: PositiveInt = Field(description="machines that one block holds at most")


class Cloud(Entry):
    """One provider."""

    kind: Literal["cloud"]
    vendor: Text
    provider: Text
    machine_types: tuple[EntryId, ...] = Field(description="ids of systems that this provider offers and the catalog knows")
    regions: tuple[EntryId, ...] = Field(description="regions that are open to the public, in any of the provider's partitions")
    placement_group_zones: PositiveInt = Field(description="availability zones that a cluster placement group spans")
    fsx_lustre: FsxLustre
    efa: Efa
    capacity_block: CapacityBlock
