"""Which hosts a job gets, which rank runs where, and what that order costs."""

from .model import Cost, FamilyCost, IdleHost, Placement

__all__ = ["Cost", "FamilyCost", "IdleHost", "Placement"]
