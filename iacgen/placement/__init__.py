"""Which hosts a job gets, which rank runs where, and what that order costs."""

from .model import Cost, FamilyCost, IdleHost, Placement
from .placing import place

__all__ = ["Cost", "FamilyCost", "IdleHost", "Placement", "place"]
