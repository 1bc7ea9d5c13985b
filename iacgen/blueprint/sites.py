"""Sites: a hall of one's own, or a region of a cloud."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, WithJsonSchema

from .base import CatalogId, Section, Subnet
from .halls import Cooling, Power, Rack


class OnPremSite(Section):
    """A hall: racks, power, cooling."""

    kind: Literal["on-prem"] = Field(examples=["on-prem"])
    rack: Rack = Field(Rack(), description="The rack that nodes are put into", examples=[{"power": "42kW", "units": 48}])
    power: Power | None = Field(None, description="The feeds; without them their loss is not checked", examples=[{"feeds": 2, "redundancy": "2N", "capacity": "1600kW"}])
    cooling: Cooling | None = Field(None, description="The cooling plant; without it heat is not checked", examples=[{"kind": "rear-door", "capacity": "1600kW", "redundancy": "N+1"}])
    domain: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?){1,5}$")] | None = Field(None, description="DNS domain of the hosts; <cluster>.internal by default", examples=["hall-a.example.com"])


class ExistingNetwork(Section):
    """A network of the account that the site moves into. Its routes are its owner's: machines must reach the cloud's services by them."""

    vpc: Annotated[str, StringConstraints(pattern=r"^vpc-([0-9a-f]{8}|[0-9a-f]{17})$")] = Field(description="Id of the VPC; it has to resolve names of private zones", examples=["vpc-0a1b2c3d4e5f67890"])
    subnet: Annotated[str, StringConstraints(pattern=r"^subnet-([0-9a-f]{8}|[0-9a-f]{17})$")] = Field(description="Id of the subnet of all machines and file systems, in the zone of the site", examples=["subnet-0a1b2c3d4e5f67890"])
    addresses: Subnet = Field(description="Address range of that subnet, inside the network of the site", examples=["10.64.8.0/22"])


_PORT = "([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
_PORTS = f"^(all|{_PORT}(-{_PORT})?)$"


def _ascending(text: str) -> str:
    first, dash, last = text.partition("-")
    if dash and int(first) > int(last):
        raise ValueError("a range of ports begins with the lower one")
    return text


Ports = Annotated[
    str,
    BeforeValidator(lambda value: str(value) if type(value) is int else value),
    StringConstraints(pattern=_PORTS),
    AfterValidator(_ascending),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1, "maximum": 65_535}, {"type": "string", "pattern": _PORTS}]}),
]
"""``all``, one TCP port, or the first and the last of several."""


class SecurityGroup(Section):
    """The group that all machines and file systems of the site are in."""

    id: Annotated[str, StringConstraints(pattern=r"^sg-([0-9a-f]{8}|[0-9a-f]{17})$")] | None = Field(None, description="Id of a group of the account, whose rules stay as they are; by default a group is made", examples=["sg-0a1b2c3d4e5f67890"])
    members: tuple[Ports, ...] | None = Field(None, strict=False, description="What its members may send each other, in and out: all, or TCP ports. A group that is made lets all pass by default; of one that exists it has to be said", examples=[["all"], ["988", "1018-1023", "6817-6818"]])

    @property
    def ports(self) -> tuple[tuple[int, int], ...] | None:
        """First and last of the TCP ports that members open to each other; None where all traffic passes among them."""
        members = ("all",) if self.members is None and self.id is None else self.members or ()
        ranges = (word.partition("-") for word in members)
        return None if "all" in members else tuple(dict.fromkeys((int(first), int(last or first)) for first, _, last in ranges))


class AwsSite(Section):
    """One availability zone of AWS."""

    kind: Literal["aws"] = Field(examples=["aws"])
    region: Annotated[str, StringConstraints(pattern=r"^[a-z]{2}(-[a-z]+)+-[0-9]$")] = Field(description="Region, such as us-east-2", examples=["us-east-2"])
    zone: Annotated[str, StringConstraints(pattern=r"^[a-z]{2}(-[a-z]+)+-[0-9][a-z]$")] = Field(description="Availability zone: a cluster does not span zones", examples=["us-east-2a"])
    network: Subnet = Field("10.64.0.0/16", description="Address range of the VPC", examples=["10.64.0.0/16"])
    existing: ExistingNetwork | None = Field(None, description="A network of the account to move into; by default one is made", examples=[{"vpc": "vpc-0a1b2c3d4e5f67890", "subnet": "subnet-0a1b2c3d4e5f67890", "addresses": "10.64.8.0/22"}])
    security_group: SecurityGroup | None = Field(None, description="The group of all machines and file systems; one that lets everything pass among its members by default", examples=[{"id": "sg-0a1b2c3d4e5f67890", "members": ["all"]}])
    admin_networks: tuple[Annotated[str, StringConstraints(pattern=r"^[0-9./]{9,18}$")], ...] = Field((), strict=False, description="Networks that may reach the head node by SSH; none by default", examples=[["198.51.100.0/24"]])
    domain: None = Field(None, description="Always <cluster>.internal", examples=[None])

    @property
    def group(self) -> SecurityGroup:
        """What is said of the group, which may be nothing."""
        return self.security_group or SecurityGroup()


Site = Annotated[OnPremSite | AwsSite, Field(discriminator="kind")]

__all__ = ["AwsSite", "CatalogId", "Cooling", "ExistingNetwork", "OnPremSite", "Power", "Rack", "SecurityGroup", "Site"]
