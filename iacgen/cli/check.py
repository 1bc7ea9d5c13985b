"""``iacgen check``: findings only."""

from __future__ import annotations

import sys
from pathlib import Path

from .exit import FINDINGS
from .read import print_findings, run_blueprint


def check(path: Path) -> None:
    """Print what is wrong; exit 1 on errors."""
    from ..diagnostics import errors

    state = run_blueprint(path)
    print_findings(state)
    bad = len(errors(state.findings))
    print(f"{state.document.name}: " + (f"{bad} error{'s' * (bad > 1)}" if bad else "clean"))
    sys.exit(FINDINGS if bad else 0)
