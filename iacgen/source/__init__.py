"""YAML text → data and positions: one loader for every blueprint."""

from ..diagnostics import Span
from .document import Document
from .loader import read

__all__ = ["Document", "Span", "read"]
