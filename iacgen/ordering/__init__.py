"""The second half of the flow by itself: ranks of designed jobs in order, on the fabric that is planned or one that was found, and what to say of it."""

from .data import data
from .flow import ordered
from .model import Ground, Ordering
from .words import text

__all__ = ["Ground", "Ordering", "data", "ordered", "text"]
