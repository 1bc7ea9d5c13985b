"""The drawings that stand inside the HTML page, as many as a page may hold."""

from __future__ import annotations

from dataclasses import dataclass

from iacgen.design.model import Design
from iacgen.drawings import drawings, inline

MOST_BYTES = 1_200_000
"""Of all drawings of one page together: with the words a page stays below 2 MB, which a phone still opens."""


@dataclass(frozen=True)
class Figure:
    """A drawing: what it shows, where its file lies, its ``svg`` element; None for one that was left out, of ``kilobytes``."""

    what: str
    path: str
    svg: str | None
    kilobytes: int


def figures(design: Design, most: int = MOST_BYTES) -> tuple[Figure, ...]:
    """Every drawing of the cluster in the order of report.md; one that no longer fits is left out and named."""
    out, left = [], most
    for drawing in drawings(design):
        svg = inline(drawing.text(design))
        size = len(svg.encode())
        out.append(Figure(drawing.what, drawing.path, svg if size <= left else None, round(size / 1000)))
        left -= size if size <= left else 0
    return tuple(out)
