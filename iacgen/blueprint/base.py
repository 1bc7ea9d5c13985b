"""What every section shares: frozen, strict, unknown keys refused; names and quantities."""

from __future__ import annotations

import ipaddress
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, StringConstraints

from .. import units


class Section(BaseModel):
    """One mapping of the blueprint."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


Name = Annotated[str, StringConstraints(pattern=r"^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$")]
"""An identity: lower case letters, digits and dashes, at most 32 characters; renaming it is destroying it."""

PoolName = Annotated[str, StringConstraints(pattern=r"^[a-z]([a-z0-9-]{0,14}[a-z])?$")]
"""Ends in a letter, since host numbers follow it; short, since a host name is a Slurm, DNS and Lustre name."""

CatalogId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]{0,62}$")]
Version = Annotated[str, StringConstraints(pattern=r"^[0-9]+(\.[0-9]+){0,3}$")]
AbsolutePath = Annotated[str, StringConstraints(pattern=r"^(/[A-Za-z0-9][A-Za-z0-9._-]{0,62}){1,8}$")]
Argument = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._/@:+=,-]{1,255}$")]
"""One word of a command line that no shell changes."""


def _quantity(dimension: str) -> tuple[BeforeValidator, PlainSerializer]:
    return BeforeValidator(lambda value: units.parse(value, dimension)), PlainSerializer(lambda value: units.write(value, dimension))


Bytes = Annotated[int, *_quantity("bytes"), Field(gt=0)]
BytesPerSecond = Annotated[int, *_quantity("bytes_per_s"), Field(gt=0)]
Watts = Annotated[int, *_quantity("watts"), Field(gt=0)]
Seconds = Annotated[float, *_quantity("seconds"), Field(gt=0)]


def _network(text: str) -> str:
    network = ipaddress.IPv4Network(text)
    if network.prefixlen > 28 or not network.is_private:
        raise ValueError("a private IPv4 network of /28 or larger is wanted")
    return str(network)


Subnet = Annotated[str, AfterValidator(_network)]
"""A private IPv4 network, such as 10.16.0.0/12."""
