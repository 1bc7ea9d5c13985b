"""What every section shares: frozen, strict, unknown keys refused; names and quantities."""

from __future__ import annotations

import ipaddress
import unicodedata
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, StringConstraints, WithJsonSchema

from .. import units


class Section(BaseModel):
    """One mapping of the blueprint."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


Name = Annotated[str, StringConstraints(pattern=r"^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$")]
"""An identity: lower case letters, digits and dashes, at most 32 characters; renaming it is destroying it."""

PoolName = Annotated[str, StringConstraints(pattern=r"^[a-z]([a-z0-9-]{0,14}[a-z])?$")]
"""Ends in a letter, since host numbers follow it; short, since a host name is a Slurm, DNS and Lustre name."""


def _composed(text: str) -> str:
    """The text in NFC, as Terraform has what it reads; a few letters come apart in it. Raises ValueError where that is too long."""
    composed = unicodedata.normalize("NFC", text)
    if len(composed) > 500:
        raise ValueError("at most 500 characters, composed as Unicode's NFC has them")
    return composed


CatalogId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$")]
Version = Annotated[str, StringConstraints(pattern=r"^[0-9]+(\.[0-9]+){0,3}$")]
AbsolutePath = Annotated[str, StringConstraints(pattern=r"^(/[A-Za-z0-9][A-Za-z0-9._-]{0,62}){1,8}$")]
Argument = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._/@:+=,-]{1,255}$")]
"""One word of a command line that no shell changes."""


Description = Annotated[
    str,
    StringConstraints(max_length=500, pattern=r"^[^\x00-\x20\x7f-\xa0]([^\x00-\x1f\x7f-\x9f]*[^\x00-\x20\x7f-\xa0])?$"),
    AfterValidator(_composed),
]
"""A line for people; no program reads it."""


WHOLE = BeforeValidator(lambda value: value if type(value) is int else None)
"""Put beside a Literal of numbers, which takes true for 1 and 1.0 for 1 otherwise."""


def _quantity(dimension: str) -> tuple[object, ...]:
    """A positive number of base units here, text with a unit in YAML and in the JSON Schema; editors show ``patternErrorMessage``."""
    return (
        BeforeValidator(lambda value: units.parse(value, dimension)),
        PlainSerializer(lambda value: units.write(value, dimension)),
        Field(gt=0),
        WithJsonSchema({"type": "string", "pattern": units.pattern(dimension), "patternErrorMessage": f"Write a number and its unit, such as {units.example(dimension)}."}),
    )


Bytes = Annotated[int, *_quantity("bytes")]
BytesPerSecond = Annotated[int, *_quantity("bytes_per_s")]
Watts = Annotated[int, *_quantity("watts")]
Seconds = Annotated[float, *_quantity("seconds")]


def _network(text: str) -> str:
    network = ipaddress.IPv4Network(text)
    if network.prefixlen > 28 or not network.is_private:
        raise ValueError("a private IPv4 network of /28 or larger is wanted")
    return str(network)


Subnet = Annotated[str, AfterValidator(_network), WithJsonSchema({"type": "string", "pattern": r"^[0-9]{1,3}(\.[0-9]{1,3}){3}/[0-9.]{1,15}$"})]
"""A private IPv4 network, such as 10.16.0.0/12."""
