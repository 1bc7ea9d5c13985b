"""Read a blueprint, and what is laid over it, and run it through the pipeline, for every command that takes one."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from .choices import Profile
from .exit import cannot

if TYPE_CHECKING:
    from ..pipeline import Run


def contents(path: Path, most: int | None = None) -> tuple[bytes, str]:
    """The bytes of the file at ``path`` (``-``: standard input), not many more than ``most``, which are those of a blueprint, and its name in messages.

    Raises OSError.
    """
    from ..source import MAX_BYTES

    most = most or MAX_BYTES
    if str(path) == "-":
        if sys.stdin is None:
            raise OSError(errno.EBADF, "standard input is closed")
        return sys.stdin.buffer.read(most + 1), "<stdin>"
    with path.open("rb") as file:
        raw = file.read(most + 1)
    here = path.is_absolute() and path.is_relative_to(Path.cwd())
    name = str(path.relative_to(Path.cwd()) if here else path)
    return raw, name if re.match(r"[\w./]", name) else f"./{name}"  # a CI takes a line that begins with :: for a command


def formerly(resolved: Path) -> bytes:
    """The resolved blueprint of a tree: it has every default, so it may be eight times as long as one that a person writes, and no
    more of it is read than tells that it is too long. Raises OSError."""
    from ..source import MAX_BYTES

    with resolved.open("rb") as file:
        return file.read(8 * MAX_BYTES + 1)


def run_blueprint(path: Path, over: Iterable[Path] = (), sets: Iterable[str] = (), profile: Profile = Profile.production, placed: bool = True) -> Run:
    """The run of the blueprint at ``path`` (``-``: standard input) under what is laid over it; leaves with 2 when one cannot be read.

    Without ``placed`` it ends before the placement, and leaves the checks out that a placement does not need.
    """
    from ..pipeline import run

    read = []
    for file in (path, *over):
        try:
            read.append(contents(file))
        except OSError as error:
            cannot(f"cannot read {file}: {error.strerror}")
    return run(*read[0], profile.value, read[1:], sets, judge=placed, placed=placed)


def print_findings(state: Run) -> None:
    """All findings of a run, each with its place in the file, and how many the file allows."""
    from ..diagnostics.report import gather, summary
    from ..diagnostics.text import render

    found = gather(state.findings, state.document, state.suppressed)
    if found.entries:
        print(render(found, colors()), end="\n\n")
    if found.suppressed:
        print(f"{state.document.name}: {summary(found)}", end="\n\n")


def colors() -> bool:
    """May standard output take colours? On a terminal that knows them, unless NO_COLOR says no (no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
