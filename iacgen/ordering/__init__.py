"""The second half of the flow by itself: ranks of designed jobs in order, on the fabric that is planned or one that was found, and what to say of it."""

from .data import data
from .flow import Wish, ordered
from .ground import MAX_BYTES, NoGround, Source, sources
from .model import Ground, Ordering
from .words import text

__all__ = ["MAX_BYTES", "Ground", "NoGround", "Ordering", "Source", "Wish", "data", "ordered", "sources", "text"]
