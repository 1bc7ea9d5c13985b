"""What the user wrote, typed and frozen: one module a section."""

from .cluster import Blueprint
from .parse import parse

__all__ = ["Blueprint", "parse"]
