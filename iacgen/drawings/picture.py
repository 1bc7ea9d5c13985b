"""What a picture is made of: shapes with a title each, lines and words, all in pixels from the upper left corner.

Every coordinate is rounded to a tenth before it is printed, so that no platform's last bit of a sine shows in a file.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from iacgen.render import render

Number = int | float
Point = tuple[float, float]
Face = Literal["sans", "mono"]

GLYPH = {"sans": 0.62, "mono": 0.61}
"""Width of a glyph over the height of its font: of DejaVu Sans on the average of English text, of DejaVu Sans Mono exactly. Both are the
widest faces that the style asks for, so words take up no more room than is kept for them."""


STRONG = 1.12
"""How much wider the same words are in semi-bold sans."""


def text_width(text: str, size: float, face: Face = "sans", strong: bool = False) -> float:
    """Pixels that a line of text takes at most."""
    return len(text) * size * GLYPH[face] * (STRONG if strong and face == "sans" else 1)


def number(value: float) -> Number:
    """Rounded to a tenth, without a point where it is whole."""
    rounded = round(value, 1)
    return int(rounded) if rounded == int(rounded) else rounded


@dataclass(frozen=True)
class Box:
    """A rectangle: its upper left corner, its size, its kind, what a pointer on it is told, the radius of its corners."""

    x: float
    y: float
    w: float
    h: float
    kind: str
    title: str
    r: float = 3

    @property
    def cx(self) -> float:
        """The middle, from the left."""
        return self.x + self.w / 2

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.y + self.h

    @property
    def words(self) -> tuple[Number, ...]:
        """What is printed."""
        return tuple(map(number, (self.x, self.y, self.w, self.h, self.r)))


@dataclass(frozen=True)
class Disc:
    """A circle round a middle."""

    cx: float
    cy: float
    r: float
    kind: str
    title: str

    @property
    def words(self) -> tuple[Number, ...]:
        """What is printed."""
        return tuple(map(number, (self.cx, self.cy, self.r)))


@dataclass(frozen=True)
class Line:
    """A bundle of links: a straight line, or an arc over ``rise`` pixels."""

    a: Point
    b: Point
    kind: str
    width: float
    title: str
    rise: float = 0

    @property
    def words(self) -> tuple[Number, ...]:
        """What is printed: both ends; in between, the control points of an arc."""
        lift = 4 / 3 * self.rise  # a cubic whose control points stand so much higher rises by three quarters of it
        return tuple(map(number, (*self.a, self.a[0], self.a[1] - lift, self.b[0], self.b[1] - lift, *self.b)))


@dataclass(frozen=True)
class Area:
    """Rectangles (left, top, width, height) that are one shape with one title, filled; or ``crossed``, both diagonals of each."""

    parts: tuple[tuple[float, float, float, float], ...]
    kind: str
    title: str
    crossed: bool = False

    @property
    def d(self) -> str:
        """What is printed: the way round each, one behind the other."""
        out = []
        for part in self.parts:
            x, y, w, h = map(number, part)
            out.append(f"M{x} {y}l{w} {h}m0 {-h}l{-w} {h}" if self.crossed else f"M{x} {y}h{w}v{h}h{-w}z")
        return "".join(out)


@dataclass(frozen=True)
class Words:
    """A line of text; ``at`` is the side of it that stands at ``x``. Its height is that of the font, its base line at ``y``."""

    x: float
    y: float
    text: str
    kind: str
    size: float = 11
    at: Literal["start", "middle", "end"] = "start"
    face: Face = "sans"

    @property
    def width(self) -> float:
        """Pixels from end to end, at most."""
        return text_width(self.text, self.size, self.face, "strong" in self.kind)

    @property
    def left(self) -> float:
        """Where it begins, at most to the left."""
        return self.x - {"start": 0.0, "middle": self.width / 2, "end": self.width}[self.at]

    @property
    def place(self) -> tuple[Number, ...]:
        """What is printed."""
        return tuple(map(number, (self.x, self.y, self.size)))


@dataclass(frozen=True)
class Picture:
    """A drawing: its size, what it shows, and its parts from the back to the front."""

    width: float
    height: float
    title: str
    description: str
    frames: tuple[Box, ...] = ()
    lines: tuple[Line, ...] = ()
    boxes: tuple[Box, ...] = ()
    discs: tuple[Disc, ...] = ()
    words: tuple[Words, ...] = ()
    areas: tuple[Area, ...] = ()


def svg(picture: Picture) -> str:
    """The picture as an SVG document that refers to nothing outside itself."""
    return render("drawings/picture.svg.j2", picture=picture, width=number(picture.width), height=number(picture.height))


def column(x: float, y: float, lines: Iterable[tuple[str, str]], size: float, at: Literal["start", "middle", "end"] = "start", face: Face = "sans", leading: float = 1.3) -> tuple[Words, ...]:
    """Lines of text, each with its kind, one below the other; ``y`` is the base line of the first."""
    return tuple(Words(x, y + i * size * leading, text, kind, size, at, face) for i, (text, kind) in enumerate(lines))
