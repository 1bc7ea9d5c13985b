"""Cables and transceivers: what a link of one speed can be made of, how far it reaches, in which lengths it is sold."""

from __future__ import annotations

from typing import Literal, cast

from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from iacgen.catalog.entry import Entry, Facts, Text
from iacgen.catalog.nics import Form, Technology

Medium = Literal["twisted-pair", "dac", "acc", "aoc", "multimode", "single-mode"]
Between = Literal["switch-switch", "host-switch"]
HostCage = Literal["rj45", "qsfp28", "qsfp56", "qsfp112", "osfp", "twin_osfp"]  # twin: two ports of the host leave from it
TAKES: dict[Form, tuple[Form, ...]] = {"qsfp56": ("qsfp28",), "qsfp112": ("qsfp56", "qsfp28")}  # cage → slower plugs that it takes too


def takes(cage: Form | None, plug: Form) -> bool:
    """Whether a plug goes into a cage: one of its own form, and an older QSFP into a newer."""
    return cage is not None and (cage == plug or plug in TAKES.get(cage, ()))


class Transceiver(Facts):
    """What is plugged into a cage of a switch: none on a cable whose ends are its own."""

    model: Text
    links: PositiveInt = Field(description="links that one of them serves")
    power_w: PositiveFloat | None = Field(default=None, description="the most that one draws")


class HostEnd(Facts):
    """The end at a host, for one kind of cage."""

    links: PositiveInt = Field(description="links that leave from such a cage, all of which it carries")
    model: Text | None = Field(default=None, description="transceiver; none on a cable whose ends are its own")
    power_w: PositiveFloat | None = Field(default=None, description="the most that one transceiver draws")


class Cable(Entry):
    """One way to make a link.

    A cable of copper, or one with lasers of its own, is one part with two ends or more; a fibre comes with a transceiver at each end.
    The id begins with the speed of a link, so that those of one speed are found without reading the others.
    """

    kind: Literal["cable"]
    vendor: Text
    model: Text = Field(description="family of part numbers of the cable, or of the fibre between the transceivers")
    medium: Medium
    technologies: tuple[Technology, ...] = Field(min_length=1)
    gbps: PositiveInt = Field(description="speed of one link")
    between: tuple[Between, ...] = Field(min_length=1)
    cage: Form = Field(description="cage of the switch that it fits")
    far_connector: Text = Field(description="connector at the other end")
    links: PositiveInt = Field(description="links that one cable carries; 1 for a fibre")
    reach_m: PositiveFloat
    lengths_m: tuple[PositiveFloat, ...] = Field(min_length=1, description="lengths on sale, ascending")
    part_numbers: dict[PositiveFloat, Text] = Field(default={}, description="what to order, by length, where the number was read")
    step_m: PositiveInt | None = Field(default=None, description="beyond them it is made to length, in steps of so many metres")
    power_w: PositiveFloat | None = Field(default=None, description="that the end in the switch draws; none of a fibre, whose transceivers draw it")
    switch_transceiver: Transceiver | None = None
    host_ends: dict[HostCage, HostEnd] = Field(default={}, description="its end for each kind of cage of a host that it fits")

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Cable:
        if not self.id.startswith(f"{self.gbps}g-"):
            raise ValueError(f"the id of a cable of {self.gbps} Gb/s begins with {self.gbps}g-")
        if list(self.lengths_m) != sorted(set(self.lengths_m)):
            raise ValueError("lengths_m must ascend")
        if self.lengths_m[0] > self.reach_m:
            raise ValueError(f"the shortest, {self.lengths_m[0]} m, is longer than the reach")
        if other := sorted(self.part_numbers.keys() - set(self.lengths_m)):
            raise ValueError(f"part_numbers has {other[0]} m, which is no length on sale")
        optics = self.medium in ("multimode", "single-mode")
        if optics != (self.switch_transceiver is not None):
            raise ValueError("a fibre, and nothing else, has transceivers")
        if bool(self.host_ends) != ("host-switch" in self.between):
            raise ValueError("host_ends are given where hosts are joined, and nowhere else")
        if any(optics != (end.model is not None) for end in self.host_ends.values()):
            raise ValueError("a fibre, and nothing else, has transceivers")
        if not optics and any(end.links not in (1, self.links) for end in self.host_ends.values()):
            raise ValueError("the end at a host carries one link of the cable or all")
        if any((end.links > 1) != cage.startswith("twin_") for cage, end in self.host_ends.items()):
            raise ValueError("twin cages, and no others, carry more than one link")
        return self

    def at_switch(self, form: Form | None, links: int) -> bool:
        """Whether it leaves from a switch's cage of this form that so many links share: a transceiver serves all of them or more, the
        end of a cable exactly as many."""
        served = self.switch_transceiver.links >= links if self.switch_transceiver else self.links == links
        return served and takes(form, self.cage)

    def host_end(self, form: Form | None, links: int) -> HostEnd | None:
        """Its end for a host's cage of this form from which so many links leave; None where it fits none."""
        return next((end for cage, end in self.host_ends.items() if end.links == links and takes(form, cast(Form, cage.removeprefix("twin_")))), None)

    @property
    def longest_m(self) -> float:
        """The longest that can be had within reach, metres."""
        sold = max(length for length in self.lengths_m if length <= self.reach_m)
        return max(sold, self.reach_m // self.step_m * self.step_m) if self.step_m else sold
