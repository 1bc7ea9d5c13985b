"""The hall: racks filled and placed, power with a feed lost, cooling and energy, cables by length."""

from .build import build
from .model import Facility, Feeds, Floor, Limits, Plant, Rack, Racked, Standing, TooLarge

__all__ = ["Facility", "Feeds", "Floor", "Limits", "Plant", "Rack", "Racked", "Standing", "TooLarge", "build"]
