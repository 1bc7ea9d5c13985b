"""One new file that from then on is its user's, no part of a managed folder."""

from __future__ import annotations

from pathlib import Path

from .disk import OutputError


def create(file: Path, text: str) -> None:
    """Write ``text`` where nothing stands. Raises OutputError where something does, OSError where the disk refuses."""
    try:
        with file.open("x", encoding="utf-8", newline="\n") as new:
            new.write(text)
    except FileExistsError:
        raise OutputError(f"{file} exists; it was not touched") from None
