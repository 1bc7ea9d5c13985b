"""Network adapters."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, PositiveInt, model_validator

from iacgen.catalog.entry import Entry, Text

Technology = Literal["infiniband", "roce", "ethernet", "efa"]
Form = Literal["rj45", "sfp28", "qsfp28", "qsfp56", "qsfp112", "osfp"]
# Lanes of a cage, and the fastest that one of them runs (SFF-8402, SFF-8665, OSFP MSA); an OSFP cage has lanes of several speeds.
LANES: dict[Form, int] = {"rj45": 1, "sfp28": 1, "qsfp28": 4, "qsfp56": 4, "qsfp112": 4, "osfp": 8}
LANE_GBPS: dict[Form, int] = {"sfp28": 25, "qsfp28": 25, "qsfp56": 50, "qsfp112": 100}


class Nic(Entry):
    """One adapter model. ``roce`` is RDMA over ``ethernet``; an adapter that does it lists both.

    Where Ethernet is slower than the port, the port splits and each part goes to a plane of its own: a ConnectX-8 is one link of
    800G as InfiniBand and two of 400G as Ethernet.
    """

    kind: Literal["nic"]
    vendor: Text
    port_gbps: PositiveInt = Field(description="fastest rate of one port")
    ports: PositiveInt
    form: Form | None = Field(default=None, description="of the cages or sockets that its ports leave from; none in a cloud")
    rdma: bool
    technologies: tuple[Technology, ...] = Field(min_length=1)
    ethernet_gbps: PositiveInt | None = Field(default=None, description="fastest rate of one Ethernet link where that is a part of the port")

    @model_validator(mode="after")
    def _ethernet_links_fill_the_port(self) -> Nic:
        if self.ethernet_gbps is not None and (self.port_gbps % self.ethernet_gbps or "ethernet" not in self.technologies):
            raise ValueError(f"ethernet_gbps {self.ethernet_gbps} must divide the {self.port_gbps} of a port that speaks ethernet")
        return self

    def planes(self, technology: str) -> int:
        """Links that one port must be split into to give its full rate in this technology; 1 where it need not."""
        by_ethernet = technology in ("roce", "ethernet") and self.ethernet_gbps
        return self.port_gbps // by_ethernet if by_ethernet else 1

    def link_gbps(self, technology: str) -> int:
        """Fastest rate of one link of this technology."""
        return self.port_gbps // self.planes(technology)
