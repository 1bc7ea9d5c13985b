"""Two runs of the pipeline held against each other: what changes, what that breaks, what it costs. Values only; nothing is written."""

from .build import Review, review
from .model import Change, Consequence, Effect, Side

__all__ = ["Change", "Consequence", "Effect", "Review", "Side", "review"]
