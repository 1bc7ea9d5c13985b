"""Read a blueprint and run it through the pipeline, for every command that takes one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .exit import cannot

if TYPE_CHECKING:
    from ..pipeline import Run


def run_blueprint(path: Path) -> Run:
    """The run of the blueprint at ``path`` (``-``: standard input); leaves with 2 when it cannot be read."""
    from ..pipeline import run

    try:
        raw = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
        text = raw.decode("utf-8-sig")
    except OSError as error:
        cannot(f"cannot read {path}: {error.strerror}")
    except UnicodeDecodeError as error:
        cannot(f"{path} is not UTF-8 text (byte {error.start})")
    return run(text, "<stdin>" if str(path) == "-" else str(path))


def print_findings(state: Run) -> None:
    """All findings of a run, each with its place in the file."""
    from ..diagnostics.text import render_text

    if state.findings:
        print(render_text(state.findings, state.document))
        print()
