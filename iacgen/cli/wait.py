"""A line on the terminal while something takes long; never in a file or a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

PATIENCE_S = 0.5


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Show ``text`` on stderr once half a second has gone, and take it away at the end."""
    if not sys.stderr.isatty():
        yield
        return
    timer = Timer(PATIENCE_S, _show, (text,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        print("\r\033[K", end="", file=sys.stderr, flush=True)


def _show(text: str) -> None:
    print(f"\r{text}", end="", file=sys.stderr, flush=True)
