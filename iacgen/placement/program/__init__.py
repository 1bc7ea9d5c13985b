"""A placement as an integer program, for a solver that proves the best."""

from .families import Program

__all__ = ["Program"]
