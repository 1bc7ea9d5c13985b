"""Blueprint and catalog → Design."""

from .build import design
from .model import Design, Pool

__all__ = ["Design", "Pool", "design"]
