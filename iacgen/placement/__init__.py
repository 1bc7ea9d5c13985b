"""Which hosts a job gets, which rank runs where, and what that order costs."""

from .model import Bound, Cost, FamilyCost, IdleHost, Move, Placement, Span
from .placing import place

__all__ = ["Bound", "Cost", "FamilyCost", "IdleHost", "Move", "Placement", "Span", "place"]
