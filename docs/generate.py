"""Write the pages that follow from the sources: ``python docs/generate.py``, or ``--check`` to compare only.

``blueprint.md`` and the JSON Schema beside the shipped blueprints come from the pydantic models (the page below a head that is written
by hand), ``catalog.md`` from the catalog's files, ``changes.md`` from the policies of a review, ``findings.md`` from the pages of
``iacgen explain``, ``commands.md`` from the typer application. ``tests/test_docs.py`` holds the pages to the sources.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pages import blueprint, catalog, changes, commands, findings, schema

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    "docs/blueprint.md": blueprint.page,
    "docs/catalog.md": catalog.page,
    "docs/changes.md": changes.page,
    "docs/commands.md": commands.page,
    "docs/findings.md": findings.page,
    "blueprints/blueprint.schema.json": schema.page,
}


def main() -> int:
    """Write what has changed; with ``--check`` only say so and return 1."""
    check = "--check" in sys.argv
    stale = 0
    for name, page in PAGES.items():
        file = ROOT / name
        old = file.read_text(encoding="utf-8") if file.exists() else ""
        new = page(old)
        if new == old:
            continue
        stale = 1
        print(f"{name} {'is not current: run docs/generate.py' if check else 'written'}")
        if not check:
            file.write_text(new, encoding="utf-8")
    return stale if check else 0


if __name__ == "__main__":
    sys.exit(main())
