"""A time that no placement of a job on these hosts can beat."""

from .lower import lower_bound

__all__ = ["lower_bound"]
