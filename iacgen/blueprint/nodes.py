"""Node pools: machines of one kind that share a name and are numbered from 1."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from .base import CatalogId, Description, Name, Section


class OnDemand(Section):
    """Bought as they are asked for."""

    kind: Literal["on-demand"] = Field("on-demand", examples=["on-demand"])


class Spot(Section):
    """Spare machines of the cloud, taken back when it needs them."""

    kind: Literal["spot"] = Field(examples=["spot"])


class CapacityReservation(Section):
    """An existing reservation of the cloud account."""

    kind: Literal["capacity-reservation"] = Field(examples=["capacity-reservation"])
    id: Annotated[str, StringConstraints(pattern=r"^cr-[0-9a-f]{17}$")] = Field(description="Id of the reservation", examples=["cr-0a1b2c3d4e5f67890"])
    machines: int | None = Field(None, ge=1, description="How many machines it holds; what takes from it is held to that", examples=[16])


class CapacityBlock(Section):
    """A block of GPU capacity for a fixed time; it decides the placement itself."""

    kind: Literal["capacity-block"] = Field(examples=["capacity-block"])
    id: Annotated[str, StringConstraints(pattern=r"^cr-[0-9a-f]{17}$")] = Field(description="Id of the block's reservation", examples=["cr-0a1b2c3d4e5f67890"])
    machines: int | None = Field(None, ge=1, description="How many machines it holds; what takes from it is held to that", examples=[16])


Capacity = Annotated[OnDemand | Spot | CapacityReservation | CapacityBlock, Field(discriminator="kind")]


class NodePool(Section):
    """``count`` machines of one system."""

    site: Name = Field(description="Where they stand", examples=["hall-a"])
    system: CatalogId = Field(description="Catalog id of the machine", examples=["dgx-h100", "p5.48xlarge", "generic-1u"])
    count: int = Field(ge=1, le=65_535, description="How many, spares included", examples=[16, 127])
    grow_to: int | None = Field(None, ge=1, le=65_535, description="How many there will be one day; fabrics and racks are laid out for that many, so that growth moves no cable", examples=[256])
    spares: int = Field(0, ge=0, description="How many of them are kept free to stand in for hosts that are down", examples=[1])
    description: Description | None = Field(None, description="What the pool is for, in a line", examples=["Preprocessing"])
    width: int = Field(4, ge=1, le=6, description="Digits of the number in a host name, whatever the count", examples=[4, 5])
    down: tuple[Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,30}$")], ...] = Field((), strict=False, description="Hosts that are known to be out of service", examples=[["gpu0017"]], json_schema_extra={"merge": "append"})
    capacity: Capacity | None = Field(None, description="How cloud machines are bought; on demand by default", examples=[{"kind": "capacity-block", "id": "cr-0a1b2c3d4e5f67890"}])
    placement_group: bool | None = Field(None, description="Whether cloud machines are kept close together; by default those with EFA that are bought on demand or on spot", examples=[False])
    efa: int | None = Field(None, ge=0, le=64, description="EFA interfaces that each cloud machine gets, 0 for none; all that its type has by default", examples=[32, 16])

    @property
    def free(self) -> int:
        """How many machines jobs may take: those that are up, less the spares that do not stand in for one that is down."""
        return self.count - max(self.spares, len(set(self.down)))
