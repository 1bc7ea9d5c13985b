"""Where the pages lie, and how one is found."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import cast

from ..diagnostics import Severity
from ..diagnostics.kind import Kind
from ..diagnostics.nearest import closest
from .page import BrokenPage, Page, read

_PACKAGE = Path(__file__).resolve().parents[1]
_TITLE = re.compile(r"# (IAC\d{3}) ([a-z0-9-]+): ([a-z, ]+)\n+")


@cache
def pages() -> tuple[Page, ...]:
    """All pages in the order of their ids. Raises BrokenPage."""
    return tuple(sorted((*_checks(), *_others()), key=lambda page: page.id))


def find(word: str) -> Page | None:
    """The page with this id or slug, whatever the case."""
    return next((page for page in pages() if word.lower() in (page.id.lower(), page.slug)), None)


def nearest(word: str) -> str | None:
    """The id or slug that was most likely meant."""
    return closest(word, (name for page in pages() for name in (page.slug, page.id)), likeness=0.5)


def kinds() -> dict[str, Kind]:
    """What is known of each finding before one is made, by id."""
    return {p.id: Kind(p.id, p.slug, frozenset(p.severities), frozenset(p.lab), p.summary, p.markdown(), p.allowable) for p in pages()}


def _others() -> Iterator[Page]:
    for file in sorted((_PACKAGE / "explain/pages").glob("*.md")):
        text = file.read_text(encoding="utf-8")
        title = _TITLE.match(text)
        if title is None or title[2] != file.name.removesuffix(".md"):
            raise BrokenPage(f"{file.name} does not begin with its id, its own name and a severity")
        severities = cast("tuple[Severity, ...]", tuple(title[3].split(", ")))
        yield read(title[1], title[2], severities, severities, text[title.end() :], _below(file))


def _checks() -> Iterator[Page]:
    for file in sorted((_PACKAGE / "checks").glob("*/*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for call in (decorator for node in tree.body if isinstance(node, ast.FunctionDef) for decorator in node.decorator_list):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "rule":
                id, slug, severities, lab, allowable = _signature(call)
                yield read(id, slug, severities, lab, ast.get_docstring(tree) or "", _below(file), allowable)


def _below(file: Path) -> str:
    return file.relative_to(_PACKAGE).as_posix()


def _signature(call: ast.Call) -> tuple[str, str, tuple[Severity, ...], tuple[Severity, ...], bool]:
    """Id, slug, severity, lab severity and allowance of ``@rule(id, slug, severity="error", lab="same", allowable=False)``."""
    words = dict(zip(("id", "slug", "severity", "lab"), (ast.literal_eval(a) for a in call.args), strict=False))
    words |= {k.arg: ast.literal_eval(k.value) for k in call.keywords}
    severity = words.get("severity", "error")
    lab = words.get("lab", "same")
    return words["id"], words["slug"], (severity,), (severity,) if lab == "same" else (lab,) if lab else (), words.get("allowable", False)
