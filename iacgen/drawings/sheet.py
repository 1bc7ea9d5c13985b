"""A picture in the making: boxes with their words, rows of boxes, frames, the header."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .lots import LEADING, NAME, Lot
from .picture import Box, Disc, Line, Picture, Words, column, text_width
from .plan import GAP

MARGIN, GUTTER = 28, 212  # round the picture; for the captions at the left
TOGETHER = 32  # letters of a figure that is not broken


@dataclass
class Sheet:
    """A picture in the making; ``at`` is where the box of each lot, by its number, stands."""

    frames: list[Box] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    words: list[Words] = field(default_factory=list)
    discs: list[Disc] = field(default_factory=list)
    at: dict[int, Box] = field(default_factory=dict)

    @property
    def bottom(self) -> float:
        """The lowest edge of all that is on it so far."""
        return max(*(box.bottom for box in (*self.boxes, *self.frames)), *(words.y + words.size / 3 for words in self.words))

    def picture(self, width: float, height: float, title: str, description: str) -> Picture:
        """What is on it, as a picture of this size."""
        return Picture(width, height, title, description, tuple(self.frames), tuple(self.lines), tuple(self.boxes), tuple(self.discs), tuple(self.words))


def header(sheet: Sheet, title: str, figures: str, right: float) -> float:
    """Title and figures over the picture, wrapped at its right edge; the upper edge of what follows."""
    lines = textwrap.wrap(title, int((right - MARGIN) / text_width("x", 19, strong=True)))
    sheet.words += column(MARGIN, MARGIN + 14, [(line, "strong") for line in lines], 19)
    y = MARGIN + 36 + 25 * (len(lines) - 1)
    lines = _figures(figures, int((right - MARGIN) / text_width("x", 12)))
    sheet.words += column(MARGIN, y, [(line, "quiet") for line in lines], 12)
    return y + len(lines) * 16 + 22


def _figures(text: str, width: int) -> list[str]:
    """The lines of figures with dots between them; a short figure stays whole, since "oversubscribed 3.00 :" says nothing."""
    kept = " · ".join(part.replace(" ", "\u00a0") if len(part) <= min(TOGETHER, width) else part for part in text.split(" · "))
    return [line.replace("\u00a0", " ") for line in textwrap.wrap(kept, width)]


def place(sheet: Sheet, lot: Lot, number: int, box: Box) -> None:
    """A box with its words in the middle, and a bar in the hue of its rail or plane at the top."""
    sheet.at[number] = box
    sheet.boxes.append(box)
    if lot.cells:
        return
    top = box.y + (box.h - len(lot.label) * LEADING) / 2 + 10
    sheet.words += [Words(box.cx, top + i * LEADING, line, "quiet" if i else "", NAME, "middle", "mono") for i, line in enumerate(lot.label)]


def row_of(sheet: Sheet, row: Sequence[Lot], numbers: dict[int, int], x: float, width: float, y: float, height: float) -> None:
    """Boxes side by side, spread over the width but not pulled wider than a half more than their words need."""
    if not row:
        return
    widest = max(lot.label_width for lot in row)
    each = min((width - GAP * (len(row) - 1)) / len(row), widest * 1.5)
    step = min((width - each) / (len(row) - 1), each * 2.2) if len(row) > 1 else 0
    first = x + (width - step * (len(row) - 1) - each) / 2
    for i, lot in enumerate(row):
        place(sheet, lot, numbers[id(lot)], Box(first + i * step, y, each, height, lot.kind, lot.title))


def frame(sheet: Sheet, label: str, box: Box, size: float) -> None:
    sheet.frames.append(box)
    sheet.words.append(Words(box.cx, box.bottom - 7, label, "strong" if box.kind == "frame" else "quiet", size, "middle"))


def at_least(left: float, right: float, width: float) -> tuple[float, float]:
    short = max(0.0, width - (right - left)) / 2
    return left - short, right + short


def legend(sheet: Sheet, entries: Iterable[tuple[str, str]], left: float, y: float, right: float) -> float:
    """Kinds of shapes and what they stand for, line by line; the lower edge of the last."""
    x = left
    for kind, text in entries:
        wide = 19 + text_width(text, 10)
        if x > left and x + wide > right:
            x, y = left, y + 18
        sheet.boxes.append(Box(x, y, 14, 8, f"key {kind}", text, 2))
        sheet.words.append(Words(x + 19, y + 8, text, "quiet", 10))
        x += wide + 14
    return y + 8
