"""What a hall offers: racks and where they stand, electricity, cooling."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .base import Section, Watts

Redundancy = Literal["N", "N+1", "2N"]


class Rack(Section):
    """What one rack can carry, and the floor that racks stand on."""

    power: Watts = Field(42_000, description="Power that one rack can feed with its redundant feed lost", examples=["42kW", "17.3kW"])
    cooling: Watts | None = Field(None, description="Heat that one rack can be rid of; as much as it can feed by default", examples=["35kW"])
    units: int = Field(48, ge=4, le=60, description="Height in rack units", examples=[48, 42])
    weight_kg: int | None = Field(None, ge=100, le=10_000, description="Weight that rack and floor carry, without that of the rack; not looked at by default", examples=[1360])
    rows: int | None = Field(None, ge=1, le=10_000, description="Rows of racks that the hall has room for; as many as are needed by default", examples=[8])
    row_length: int = Field(20, ge=2, le=1000, description="Racks side by side in a row; an eighth of them, on the left, are for switches above the leaves and for machines without GPUs", examples=[20, 32])
    pitch_m: float = Field(2.4, ge=1.5, le=10, description="From the front of one row to that of the next, in metres: a rack and half of the two aisles beside it", examples=[2.4, 3.0])
    width_m: float = Field(0.6, ge=0.5, le=1.2, description="Width of a rack, in metres", examples=[0.6, 0.8])


class Cdu(Section):
    """Coolant distribution units: pumps and heat exchanger between the water of the hall and that of the racks."""

    capacity: Watts = Field(description="Heat that one unit takes over", examples=["1300kW"])
    count: int | None = Field(None, ge=1, le=1000, description="How many stand there; as many as are needed by default", examples=[3])


class Cooling(Section):
    """The cooling plant of the hall."""

    kind: Literal["air", "rear-door", "direct-liquid"] = Field(description="How heat leaves the racks: air of the room, water in the rear doors, coolant on the processors and air for the rest", examples=["air", "rear-door"])
    capacity: Watts = Field(description="Heat that the plant takes away with its redundant units at rest: what it is counted on for", examples=["1600kW", "2MW"])
    redundancy: Redundancy = Field("N", description="Units beyond those that make the capacity, of the plant and of the CDUs", examples=["N+1"])
    supply_c: int = Field(20, ge=5, le=50, description="Supply temperature of the air, of the doors' water or of the coolant, degrees Celsius", examples=[20])
    rise_k: float | None = Field(None, ge=2, le=40, description="By how much it gets warmer, in kelvin; 15 of air and 10 of water by default", examples=[10])
    liquid_share: float | None = Field(None, ge=0, le=1, description="Share of the heat that goes into water or coolant; follows from the kind by default", examples=[0.8])
    cdu: Cdu | None = Field(None, description="Coolant distribution units", examples=[{"capacity": "1300kW", "count": 3}])


class Power(Section):
    """The feeds of the hall. A rack hangs on two of them, unless nothing is redundant."""

    feeds: int = Field(2, ge=1, le=64, description="How many there are, of equal size", examples=[2, 4])
    redundancy: Redundancy = Field("2N", description="N: each rack on one feed; N+1: pairs of feeds in turn, one may fail; 2N: two sides, each of which carries everything", examples=["2N"])
    capacity: Watts = Field(description="What one feed carries for machines and switches, without cooling", examples=["1600kW"])
