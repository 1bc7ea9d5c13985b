"""The command line: one module a command, nothing heavy imported before a command runs."""

from __future__ import annotations

import os
import sys

from .exit import cannot


def main() -> None:
    """Entry point. Exit codes: 0 clean, 1 findings or drift, 2 could not do the job, 130 interrupted."""
    from .app import app

    if sys.stderr is None:  # closed by the caller, as stdout below; print would turn to stdout in its place
        sys.stderr = open(os.devnull, "w", encoding="utf-8")
    if sys.stdout is None:
        cannot("cannot write the output: standard output is closed")
    sys.stdout.reconfigure(errors="backslashreplace")  # a terminal of few characters still gets every word
    try:
        try:
            app(prog_name="iacgen")
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        _abandon_stdout()
        sys.exit(141)
    except OSError as error:
        _abandon_stdout()
        cannot(f"cannot write the output: {error.strerror}")


def _abandon_stdout() -> None:
    """Let Python's own last flush go nowhere: the real one has failed already."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
