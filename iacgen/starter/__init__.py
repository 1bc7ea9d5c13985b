"""A first blueprint for somebody who knows the machines and how many: sized here, worded in ``templates/init``."""

from .first import EXAMPLE, SITES, SMALL, Impossible, Wish, write

__all__ = ["EXAMPLE", "SITES", "SMALL", "Impossible", "Wish", "write"]
