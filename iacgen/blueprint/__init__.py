"""What the user wrote, typed and frozen: one module a section."""

from .cluster import Blueprint
from .layers import assemble
from .parse import parse
from .resolve import resolve

__all__ = ["Blueprint", "assemble", "parse", "resolve"]
