"""``iacgen explain``: the page of a finding, or the list of all."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from .exit import PageFormat, cannot

if TYPE_CHECKING:
    from ..explain import Page

WIDEST = 100  # columns: what an eye follows from line to line


def explain(name: str | None, format: PageFormat) -> None:
    """Print one page, or one line a finding; leaves with 2 when there is no such finding."""
    from .. import explain as shelf

    if name is None:
        _list(shelf.pages(), format)
        return
    page = shelf.find(name)
    if page is None:
        near = shelf.nearest(name)
        cannot(f"there is no finding {name!r}" + (f"; did you mean {near}?" if near else "; iacgen explain lists all"))
    if format is PageFormat.json:
        print(json.dumps(_data(page), indent=2))
    elif format is PageFormat.markdown:
        print(page.markdown(), end="")
    else:
        width = min(WIDEST, shutil.get_terminal_size().columns) if sys.stdout.isatty() else WIDEST
        print(page.text(width), end="")


def _list(pages: tuple[Page, ...], format: PageFormat) -> None:
    if format is PageFormat.json:
        print(json.dumps([_data(page) for page in pages], indent=2))
        return
    if format is PageFormat.markdown:
        print("| id | name | severity | what is found |\n|---|---|---|---|")
        for page in pages:
            print(page.row())
        return
    slug, severity = (max(len(getattr(page, column)) for page in pages) for column in ("slug", "severity"))
    for page in pages:
        print(f"{page.id}  {page.slug:<{slug}}  {page.severity:<{severity}}  {page.summary}")


def _data(page: Page) -> dict[str, object]:
    return asdict(page)
