"""Write the pages that follow from the sources: ``python docs/generate.py``, or ``--check`` to compare only.

``blueprint.md`` comes from the pydantic models (below a head that is written by hand), ``catalog.md`` from the catalog's files,
``findings.md`` from the places where findings are made. ``tests/test_docs.py`` holds the pages to the sources.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pages import blueprint, catalog, findings

DOCS = Path(__file__).resolve().parent
PAGES = {"blueprint.md": blueprint.page, "catalog.md": catalog.page, "findings.md": findings.page}


def main() -> int:
    """Write what has changed; with ``--check`` only say so and return 1."""
    check = "--check" in sys.argv
    stale = 0
    for name, page in PAGES.items():
        file = DOCS / name
        old = file.read_text(encoding="utf-8") if file.exists() else ""
        new = page(old)
        if new == old:
            continue
        stale = 1
        print(f"docs/{name} {'is not current: run docs/generate.py' if check else 'written'}")
        if not check:
            file.write_text(new, encoding="utf-8")
    return stale if check else 0


if __name__ == "__main__":
    sys.exit(main())
