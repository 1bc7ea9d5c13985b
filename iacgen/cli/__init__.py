"""The command line: one module a command, nothing heavy imported before a command runs."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point. Exit codes: 0 clean, 1 findings or drift, 2 could not do the job, 130 interrupted."""
    from .app import app

    try:
        app(prog_name="iacgen")
    except KeyboardInterrupt:
        sys.exit(130)
