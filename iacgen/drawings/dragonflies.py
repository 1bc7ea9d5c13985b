"""A dragonfly: its groups on a circle with the links between them, and the first group from the inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, hypot, pi, sin

import numpy as np

from iacgen.design.fabric.model import Fabric

from . import captions, lots, trees
from .levels import WIDEST, plan_of_pod
from .lines import weight
from .picture import Box, Disc, Line, Picture, Point, Words, column, text_width
from .plan import FRAME
from .sheet import GUTTER, MARGIN, Sheet, frame, header
from .view import Bundle, View, bundles, whole

MOST_PLACES = 48  # on the circle, else neighbours share one
RADIUS, APART = 24, 18  # of a place; pixels between two
SMALLEST, BESIDE = 170, 56  # radius of the circle; pixels from it to the group beside it
DENSE = 120  # lines from which on they are drawn finer
NAME = 11


@dataclass(frozen=True)
class Place:
    """Groups by their index that share a place on the circle."""

    groups: range
    label: str
    title: str


def draw(fabric: Fabric) -> Picture:
    """The picture of a dragonfly or a dragonfly+ with its groups."""
    view, sheet = whole(fabric), Sheet()
    places, inside = _places(view), plan_of_pod(view, 0)
    radius = max(SMALLEST, len(places) * (2 * RADIUS + APART) / (2 * pi)) if len(places) > 1 else 0.0
    size, across = 2 * (radius + RADIUS), _across(view, places)
    told = _told(view, across)
    room = max(size, max(text_width(text, NAME, strong="strong" in kind) for text, kind in told))
    beside = MARGIN + room + BESIDE + GUTTER + FRAME
    wide = beside + trees.room(inside) > WIDEST
    left = MARGIN + GUTTER + FRAME if wide else beside
    width = max(left + trees.room(inside) + FRAME, MARGIN + room) + MARGIN
    title, figures = captions.headline(fabric), captions.figures(fabric)
    top = header(sheet, title, figures, width - MARGIN)
    middle = ((width if wide else room + 2 * MARGIN) / 2, top + size / 2)
    _circle(sheet, places, across, middle, radius)
    sheet.words += column(middle[0], top + size + 26, told, NAME, "middle")
    low = top + size + 26 + 15 * len(told)
    start = low + MARGIN if wide else top
    trees.lay(sheet, inside, left, start + 2 * FRAME)
    label = f"inside {lots.short(fabric, fabric.pods[0].name)}"
    frame(sheet, label, Box(left - GUTTER - FRAME, start, trees.room(inside) + GUTTER + 2 * FRAME, sheet.bottom - start + 34, "frame", label, 6), NAME)
    sheet.frames.insert(0, sheet.frames.pop())  # behind those within it
    return sheet.picture(width, max(sheet.bottom, low) + MARGIN, title, figures)


def _told(view: View, across: Sequence[Bundle]) -> captions.Lines:
    """How many groups there are, of what, and how two are joined."""
    pods = view.fabric.pods
    sizes = [
        (np.array([sum(len(view.leaves[g]) for g in pod.groups) for pod in pods]), "leaf switch"),
        (np.bincount(list(view.pods_of_spines.values()), minlength=len(pods)), "spine switch"),
        (np.array([view.first_host[pod.groups.stop] - view.first_host[pod.groups.start] for pod in pods]), "host"),
    ]
    each = ", ".join(lots.plural(captions.between(counts), noun, int(counts.max())) for counts, noun in sizes if counts.any())
    return ((lots.counted(len(pods), "group"), "strong"), (f"each: {each}", "quiet"), *captions.joined([b for b in across if b.a != b.b], ("group-group",)))


def _places(view: View) -> list[Place]:
    pods, out = view.fabric.pods, []
    for run in lots.runs(range(len(pods)), MOST_PLACES):
        groups = range(pods[run[0]].groups.start, pods[run[-1]].groups.stop)
        counts = (
            (sum(len(view.leaves[g]) for g in groups), "leaf switch"),
            (sum(pod in run for pod in view.pods_of_spines.values()), "spine switch"),
            (view.first_host[groups.stop] - view.first_host[groups.start], "host"),
        )
        label = lots.run([lots.short(view.fabric, pods[i].name) for i in run])
        out.append(Place(range(run[0], run[-1] + 1), label, f"{label}: {', '.join(lots.counted(n, noun) for n, noun in counts if n)}"))
    return out


def _across(view: View, places: Sequence[Place]) -> list[Bundle]:
    """Links between groups, counted by their places; those within one are a bundle of it with itself."""
    place_of_pod = [i for i, place in enumerate(places) for _ in place.groups]
    place_of = np.full(view.fabric.switches, -1)
    for pod, place in zip(view.fabric.pods, place_of_pod, strict=True):
        place_of[[leaf for group in pod.groups for leaf in view.leaves[group]]] = place
    for spine, index in view.pods_of_spines.items():
        place_of[spine] = place_of_pod[index]
    hosts = np.full(len(view.fabric.hosts), -1)
    managers = np.full(len(view.fabric.manager.hosts) if view.fabric.manager else 0, -1)
    return [b for b in bundles(view, place_of, hosts, managers, np.zeros(len(places), dtype=bool)) if b.joins == "group-group"]


def _circle(sheet: Sheet, places: Sequence[Place], across: Sequence[Bundle], middle: Point, radius: float) -> None:
    """Places clockwise from the top; a line ends at the edge of a place."""
    turns = [2 * pi * i / len(places) - pi / 2 for i in range(len(places))]
    at = [(middle[0] + radius * cos(turn), middle[1] + radius * sin(turn)) for turn in turns]
    within = {b.a: b.links for b in across if b.a == b.b}
    between = [b for b in across if b.a != b.b]
    dense = len(between) > DENSE
    for b in between:
        (x, y), (u, v) = at[b.a], at[b.b]
        share = RADIUS / hypot(u - x, v - y)
        title = f"{places[b.a].label} to {places[b.b].label}: {b.told}"
        ends = ((x + (u - x) * share, y + (v - y) * share), (u - (u - x) * share, v - (v - y) * share))
        sheet.lines.append(Line(*ends, "link fine" if dense else "link", weight(b.links, dense), title))
    for i, (place, (x, y)) in enumerate(zip(places, at, strict=True)):
        title = place.title + (f", {within[i]:,} links among them" if i in within else "")
        sheet.discs.append(Disc(x, y, RADIUS, "leaf" if i else "leaf opened", title))
        size = min(NAME, (2 * RADIUS - 6) / text_width(place.label, 1, "mono"))
        sheet.words.append(Words(x, y + size / 3, place.label, "", size, "middle", "mono"))
