"""Orders worth trying: which hosts take part, in which sequence, and how the grid of a job is laid along them."""

from .candidates import candidates

__all__ = ["candidates"]
