"""What every catalog entry has: an identity, and for each of its figures a source with a date.

A figure written as ``null`` is unknown and says why under ``unknown``; it is never written as zero. A figure that does not apply
to the thing is left out of its file. Sources name figures by dotted path (``nics.compute.rdma_names``); naming a parent covers
everything below it.
"""

from __future__ import annotations

import datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

Figure = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]*(\.[a-z0-9_-]+)*$")]
EntryId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]*$")]
Text = Annotated[str, StringConstraints(min_length=1)]


def _written(value: Any) -> Any:
    """YAML turns an unquoted 2024-11-27 into a date, but leaves 2024-11 alone: both are text here."""
    return value.isoformat() if type(value) is datetime.date else value


DateText = Annotated[
    str,
    StringConstraints(pattern=r"^20\d\d-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?$"),
    BeforeValidator(_written),
]


class Facts(BaseModel):
    """Frozen, strict about unknown fields: a misspelt figure in a catalog file must not pass in silence."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Source(Facts):
    """Where some figures were read, and when that was published or read (``2024-11`` or ``2024-11-27``)."""

    figures: tuple[Figure, ...] = Field(min_length=1)
    where: Text
    date: DateText
    note: Text | None = None


class Entry(Facts):
    """One thing of the catalog. Equal by its figures, hashed by its kind and id."""

    kind: str
    id: EntryId
    name: Text
    sources: tuple[Source, ...] = Field(min_length=1)
    unknown: dict[Figure, Text] = {}

    def __hash__(self) -> int:
        return hash((self.kind, self.id))
