"""Network switches: ports at each speed, height, power."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from iacgen.catalog.entry import Entry, Facts, Text
from iacgen.catalog.nics import LANE_GBPS, LANES, Form, Technology

Software = Literal["mlnx-os", "nvos", "cumulus", "sonic", "eos"]


class Sonic(Facts):
    """How SONiC counts the ports of a switch: ``Ethernet`` and the number of a port's first lane, ``lanes`` to a cage."""

    lanes: PositiveInt
    hwsku: dict[PositiveInt, Text] = Field(min_length=1, description="name of the port layout in which every port runs at this speed")


class Switch(Entry):
    """One switch model.

    ``ports_by_gbps`` gives the number of ports at each link speed. Without ``uplink_gbps`` the speeds are alternatives: the same
    cages, split or slowed down (one SN5600 is 64 ports of 800G or 128 of 400G, and 256 of either 200G or 100G). With it the ports of
    that speed stand beside the others and are meant for uplinks (SN2201: 48 of 1G and 4 of 100G).
    """

    kind: Literal["switch"]
    vendor: Text
    technologies: tuple[Technology, ...] = Field(min_length=1)
    ports_by_gbps: dict[PositiveInt, PositiveInt] = Field(min_length=1)
    uplink_gbps: PositiveInt | None = None
    cages: PositiveInt = Field(description="cages and sockets on its front that links leave from, those of the uplinks included")
    form: Form = Field(description="of the cages, those that are meant for uplinks left out")
    uplink_form: Form | None = Field(default=None, description="of the cages of uplinks, where they stand beside the others")
    cage_links: PositiveInt = Field(description="links that one transceiver serves: 2 for twin-port OSFP (2 x 400G)")
    software: tuple[Software, ...] = Field(default=(), description="operating systems that run on it; none: managed from outside")
    sonic: Sonic | None = Field(default=None, description="where SONiC's port layouts of it were read")
    rack_units: PositiveInt
    weight_kg: PositiveFloat | None = Field(default=None, description="with its power supplies and fans")
    power_kw_typical: PositiveFloat | None = Field(default=None, description="with passive cables")
    power_kw_max: PositiveFloat | None = Field(default=None, description="with active cables or optics in every cage")

    @model_validator(mode="after")
    def _uplinks_exist(self) -> Switch:
        if self.uplink_gbps is not None and self.uplink_gbps not in self.ports_by_gbps:
            raise ValueError(f"uplink_gbps {self.uplink_gbps} is no speed of ports_by_gbps")
        if (self.uplink_gbps is None) != (self.uplink_form is None):
            raise ValueError("uplink_form is given with uplink_gbps")
        if self.uplink_gbps is None:
            self._splits_of_the_same_cages()
            if any(n % self.cages for n in self.ports_by_gbps.values()):
                raise ValueError(f"{self.cages} cages do not share the ports of every speed evenly")
        elif self.cages != sum(self.ports_by_gbps.values()):
            raise ValueError(f"{self.cages} cages are not one for each port and uplink")
        return self

    def _splits_of_the_same_cages(self) -> None:
        speeds = sorted(self.ports_by_gbps, reverse=True)
        for fast, slow in zip(speeds, speeds[1:]):
            if self.ports(slow) < self.ports(fast) or slow * self.ports(slow) > fast * self.ports(fast):
                raise ValueError(f"{self.ports(slow)} ports of {slow}G are no split of {self.ports(fast)} of {fast}G")

    def ports(self, gbps: int) -> int:
        """Number of ports at this link speed; 0 when the switch has none."""
        return self.ports_by_gbps.get(gbps, 0)

    def form_of(self, gbps: int) -> Form:
        """Form of the cage that a link of this speed leaves from."""
        return self.uplink_form if self.uplink_form and gbps == self.uplink_gbps else self.form

    def shares(self, gbps: int) -> int:
        """Links of this speed that leave from one cage. Raises KeyError for a speed that it has not."""
        return 1 if self.uplink_gbps is not None else self.ports_by_gbps[gbps] // self.cages

    def towards(self, gbps: int, form: Form | None) -> Switch:
        """The same switch with as many ports of this speed as adapters in cages of this form can use: a link of 200 Gb/s to a QSFP56
        cage takes four lanes of 50 Gb/s, so that two of them leave from an OSFP cage that has four of those with faster lanes. No port
        layout of SONiC is known for what is split otherwise."""
        if self.uplink_gbps is not None or form not in LANE_GBPS or gbps not in self.ports_by_gbps:
            return self
        most = LANES[self.form] // -(-gbps // LANE_GBPS[form])
        if most < 1 or most >= self.shares(gbps):
            return self
        known = {speed: name for speed, name in self.sonic.hwsku.items() if speed != gbps} if self.sonic else {}
        sonic = self.sonic.model_copy(update={"hwsku": known}) if self.sonic else None
        return self.model_copy(update={"ports_by_gbps": {**self.ports_by_gbps, gbps: most * self.cages}, "sonic": sonic})

    def cage(self, gbps: int, port: int) -> tuple[int, int]:
        """(cage, link of that cage) of link port ``port`` of this speed: the first counts from 1, the second from 0.

        Where uplinks have sockets of their own these follow the others, whether they are counted from 1 or behind the others.
        """
        if self.uplink_gbps is not None:
            others = self.cages - self.ports(self.uplink_gbps)
            return (others + port if gbps == self.uplink_gbps and port <= others else port), 0
        n = self.shares(gbps)
        return (port - 1) // n + 1, (port - 1) % n
