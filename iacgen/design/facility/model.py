"""A hall: racks on a floor and what stands in them, the plant that cools it, the feeds that power it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import floor
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .lengths import Places

Redundancy = Literal["N", "N+1", "2N"]


class TooLarge(ValueError):
    """Things of the named kind of which one rack holds none; ``figures`` says what they need and what the rack has."""

    def __init__(self, kind: str, figures: str) -> None:
        super().__init__(kind)
        self.figures = figures


@dataclass(frozen=True)
class Limits:
    """What one rack carries: height in units, watts it feeds, watts of heat it is rid of, kilograms (None: nobody said)."""

    units: int
    power_w: int
    cooling_w: int
    weight_kg: float | None = None

    def fit(self, units: int, power_w: int | None, weight_kg: float | None) -> int:
        """How many equal things go into an empty rack; a figure of theirs that is unknown limits nothing."""
        most = self.units // units
        if power_w:
            most = min(most, self.power_w // power_w, self.cooling_w // power_w)
        if weight_kg and self.weight_kg:
            most = min(most, floor(self.weight_kg / weight_kg))
        return most

    def less(self, units: int, power_w: int, weight_kg: float) -> Limits:
        """What is left beside things of that much in sum."""
        left = None if self.weight_kg is None else self.weight_kg - weight_kg
        return Limits(self.units - units, self.power_w - power_w, self.cooling_w - power_w, left)


@dataclass(frozen=True)
class Racked:
    """Things of one kind to put into racks: names, then of each its height in units, power and weight (None: not published).

    ``planned`` is how many there will be one day, for which room is kept; ``together`` things share a rack that holds nothing else.
    """

    kind: str
    names: tuple[str, ...]
    units: int
    power_w: int | None
    weight_kg: float | None = None
    model: str = ""
    planned: int = 0
    together: int = 1


@dataclass(frozen=True)
class Standing:
    """One thing in a rack; ``unit`` is the lowest that it fills, counted from 1 at the bottom."""

    name: str
    unit: int
    units: int
    power_w: int | None
    weight_kg: float | None
    model: str


@dataclass(frozen=True)
class Rack:
    """One rack: in which row it stands and at which place of the row, both from 1, and what stands in it from the bottom up."""

    name: str
    row: int
    place: int
    contents: tuple[Standing, ...]

    @cached_property
    def units(self) -> int:
        """Units that are filled."""
        return sum(thing.units for thing in self.contents)

    @cached_property
    def power_w(self) -> int:
        """Watts, as far as they are published."""
        return sum(thing.power_w or 0 for thing in self.contents)

    @cached_property
    def weight_kg(self) -> float:
        """Kilograms without the rack's own, as far as they are published."""
        return sum(thing.weight_kg or 0 for thing in self.contents)


@dataclass(frozen=True)
class Floor:
    """How racks stand: places of a row, the left of them ``side`` kept for what is not by rows of GPUs; metres from row to row and
    from rack to rack; ``rows`` is what the hall has room for, None where nobody said."""

    row_length: int = 20
    side: int = 2
    pitch_m: float = 2.4
    width_m: float = 0.6
    rows: int | None = None


@dataclass(frozen=True)
class Plant:
    """The cooling plant: how heat leaves the racks, the heat in watts that it takes away with its redundant units at rest.

    ``rise_k`` and ``liquid_share`` are None where the blueprint leaves them to the kind; ``cdu_w`` is what one coolant distribution
    unit takes over, ``cdus`` how many stand there (None: as many as it takes).
    """

    kind: Literal["air", "rear-door", "direct-liquid"]
    capacity_w: int
    redundancy: Redundancy
    supply_c: int
    rise_k: float | None = None
    liquid_share: float | None = None
    cdu_w: int | None = None
    cdus: int | None = None


@dataclass(frozen=True)
class Feeds:
    """The feeds of a hall: how many, what is redundant, watts that each carries."""

    count: int
    redundancy: Redundancy
    capacity_w: int


@dataclass(frozen=True)
class Facility:
    """The hall of a site. ``unknown`` names kinds whose power is not published: they count as zero and must be said. ``plated_w`` is
    the part of ``power_w`` that machines with cold plates draw."""

    site: str
    racks: tuple[Rack, ...]
    limits: Limits
    floor: Floor
    power_w: int
    plant: Plant | None
    feeds: Feeds | None
    unknown: tuple[str, ...]
    plated_w: int = 0

    @property
    def rack_power_w(self) -> int:
        """What one rack feeds."""
        return self.limits.power_w

    @property
    def cooling_w(self) -> int | None:
        """The heat that the plant takes away; None where no plant is stated."""
        return self.plant.capacity_w if self.plant else None

    @cached_property
    def rows(self) -> int:
        """Rows that are begun."""
        return max((rack.row for rack in self.racks), default=0)

    @cached_property
    def place_of(self) -> dict[str, tuple[Rack, Standing]]:
        """Name of a thing → its rack and where it stands there."""
        return {thing.name: (rack, thing) for rack in self.racks for thing in rack.contents}

    @cached_property
    def index_of(self) -> dict[str, int]:
        """Name of a thing → its number, from 0, in the order of the racks and from the bottom up."""
        return {name: i for i, name in enumerate(thing.name for rack in self.racks for thing in rack.contents)}

    @cached_property
    def stands(self) -> Places:
        """Where the things of ``index_of`` stand, measured once for all fabrics."""
        from .lengths import stands

        return stands(self)
