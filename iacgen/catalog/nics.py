"""Network adapters."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, PositiveInt

from iacgen.catalog.entry import Entry, Text

Technology = Literal["infiniband", "roce", "ethernet", "efa"]


class Nic(Entry):
    """One adapter model. ``roce`` is RDMA over ``ethernet``; an adapter that does it lists both."""

    kind: Literal["nic"]
    vendor: Text
    port_gbps: PositiveInt = Field(description="fastest rate of one port")
    ports: PositiveInt
    rdma: bool
    technologies: tuple[Technology, ...] = Field(min_length=1)
