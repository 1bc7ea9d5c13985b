"""The second half of the flow by itself: ranks of designed jobs in order, on the fabric that is planned or one that was found, and what to say of it."""

from .data import data
from .files import MARK, faults, files
from .flow import Wish, ordered
from .ground import MAX_BYTES, NoGround, Source, sources
from .model import Ground, Ordering
from .picture import picture
from .words import text

__all__ = ["MAX_BYTES", "MARK", "Ground", "NoGround", "Ordering", "Source", "Wish", "data", "faults", "files", "ordered", "picture", "sources", "text"]
