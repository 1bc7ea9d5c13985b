"""Between a tree of texts and a folder on disk: plan first, then write."""

from .create import create
from .disk import BlockedPath, InvalidPath, OutputError
from .manifest import ManifestError, read
from .owned import owned
from .plan import Plan, Tree, plan
from .write import WriteRefused, apply

__all__ = ["BlockedPath", "InvalidPath", "ManifestError", "OutputError", "Plan", "Tree", "WriteRefused", "apply", "create", "owned", "plan", "read"]
