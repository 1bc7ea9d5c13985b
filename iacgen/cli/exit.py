"""Exit codes and output formats."""

from __future__ import annotations

import sys
from enum import Enum
from typing import NoReturn

CLEAN, FINDINGS, CANNOT = 0, 1, 2


class Format(str, Enum):
    """How results are printed."""

    text = "text"
    json = "json"


class PageFormat(str, Enum):
    """How a page is printed."""

    text = "text"
    markdown = "markdown"
    json = "json"


def cannot(message: str) -> NoReturn:
    """Say on stderr why the job could not be done, and leave with 2. What the message quotes may come from a stranger."""
    from ..diagnostics.printable import printable_lines

    print("\n".join(printable_lines(f"iacgen: {message}")), file=sys.stderr)
    sys.exit(CANNOT)
