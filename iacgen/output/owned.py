"""Whether a folder may be managed by a command that is not ``generate``."""

from __future__ import annotations

from pathlib import Path

from . import manifest as manifests
from .disk import OutputError


def owned(folder: Path, mark: str) -> None:
    """Raises OutputError unless ``folder`` is missing, empty, or one whose manifest names the file ``mark``: what another command or somebody else
    keeps there is not to be deleted. OSError where it cannot be read."""
    if not folder.exists() and not folder.is_symlink():
        return
    if not folder.is_dir() or folder.is_symlink():
        raise OutputError(f"{folder} is no folder")
    found = manifests.load(folder)
    if (found and mark not in found.paths) or (found is None and any(folder.iterdir())):
        raise OutputError(f"{folder} is neither new nor empty, and was not written by this command")
