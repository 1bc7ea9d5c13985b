"""YAML text → data and positions: one loader for every blueprint."""

from ..diagnostics import Span
from .assign import assignment
from .comments import Comment, comments
from .decode import MAX_BYTES
from .document import Document, Path
from .loader import read
from .overlay import lay
from .trace import traced

__all__ = ["MAX_BYTES", "Comment", "Document", "Path", "Span", "assignment", "comments", "lay", "read", "traced"]
