"""Sites: a hall of one's own, or a region of a cloud."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from .base import CatalogId, Section, Subnet, Watts


class Rack(Section):
    """What one rack can carry."""

    power: Watts = Field(42_000, description="Power that one rack can feed and cool", examples=["42kW", "17.3kW"])
    units: int = Field(48, ge=4, le=60, description="Height in rack units", examples=[48, 42])


class Cooling(Section):
    """The cooling plant of the hall."""

    kind: Literal["air", "rear-door", "direct-liquid"] = Field(description="How heat leaves the racks; for the report", examples=["air", "rear-door"])
    capacity: Watts = Field(description="Heat that the plant takes away with its redundant units at rest: what it is counted on for", examples=["1600kW", "2MW"])
    redundancy: Literal["N", "N+1", "2N"] = Field("N", description="Units beyond those that make the capacity; for the report, it changes no figure", examples=["N+1"])
    supply_c: int = Field(20, ge=5, le=50, description="Supply temperature, degrees Celsius; for the report", examples=[20])


class OnPremSite(Section):
    """A hall: racks, power, cooling."""

    kind: Literal["on-prem"] = Field(examples=["on-prem"])
    rack: Rack = Field(Rack(), description="The rack that nodes are put into", examples=[{"power": "42kW", "units": 48}])
    cooling: Cooling | None = Field(None, description="The cooling plant; without it heat is not checked", examples=[{"kind": "rear-door", "capacity": "1600kW", "redundancy": "N+1"}])
    domain: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?){1,5}$")] | None = Field(None, description="DNS domain of the hosts; <cluster>.internal by default", examples=["hall-a.example.com"])


class AwsSite(Section):
    """One availability zone of AWS."""

    kind: Literal["aws"] = Field(examples=["aws"])
    region: Annotated[str, StringConstraints(pattern=r"^[a-z]{2}(-[a-z]+)+-[0-9]$")] = Field(description="Region, such as us-east-2", examples=["us-east-2"])
    zone: Annotated[str, StringConstraints(pattern=r"^[a-z]{2}(-[a-z]+)+-[0-9][a-z]$")] = Field(description="Availability zone: a cluster does not span zones", examples=["us-east-2a"])
    network: Subnet = Field("10.64.0.0/16", description="Address range of the VPC", examples=["10.64.0.0/16"])
    admin_networks: tuple[Annotated[str, StringConstraints(pattern=r"^[0-9./]{9,18}$")], ...] = Field((), strict=False, description="Networks that may reach the head node by SSH; none by default", examples=[["198.51.100.0/24"]])
    domain: None = Field(None, description="Always <cluster>.internal", examples=[None])


Site = Annotated[OnPremSite | AwsSite, Field(discriminator="kind")]

__all__ = ["AwsSite", "CatalogId", "Cooling", "OnPremSite", "Rack", "Site"]
