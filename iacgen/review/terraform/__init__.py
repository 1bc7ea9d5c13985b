"""What ``terraform plan`` will say of a change, worked out from the two trees, and held against a plan that was made."""

from .engine import Predicted, actions
from .matching import matched

__all__ = ["Predicted", "actions", "matched"]
