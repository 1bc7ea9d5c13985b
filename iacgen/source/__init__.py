"""YAML text → data and positions: one loader for every blueprint."""

from .document import Document, Span
from .loader import read

__all__ = ["Document", "Span", "read"]
