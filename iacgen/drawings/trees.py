"""A tree by tiers: hosts at the bottom, then leaves, spines and cores, every bundle of links as one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iacgen.design.fabric.model import Joins

from . import captions, lines
from .lots import CELL, LEADING, NAME, PAD, Lot
from .picture import Box, Picture, Words, column, text_width
from .plan import COLUMN_GAP, FRAME, GAP, SECTION_GAP, Column, Plan, Section, cells_across
from .sheet import GUTTER, MARGIN, Sheet, at_least, frame, header, legend, place, row_of

TITLE = 20  # for the label of a frame
NARROWEST = 620
LEAD = 1.3  # from line to line of a caption over the height of its font


def draw(plan: Plan, title: str, figures: str, way: frozenset[int] = frozenset(), way_label: str = "") -> Picture:
    """The picture of a plan. ``way`` are numbers of bundles that are drawn bold, ``way_label`` is what they are."""
    sheet = Sheet()
    left, width = MARGIN + GUTTER, room(plan)
    head = header(sheet, title, figures, left + width)
    lay(sheet, plan, left, head, way)
    bottom = _legend(sheet, plan, left, sheet.bottom + MARGIN, way_label)
    return sheet.picture(left + width + MARGIN, bottom + MARGIN, title, figures)


def room(plan: Plan) -> float:
    """How wide a plan is laid, without its captions."""
    return max(plan.width + 2 * FRAME, NARROWEST)


def lay(sheet: Sheet, plan: Plan, left: float, top: float, way: frozenset[int] = frozenset()) -> None:
    """Put a plan on a sheet, its boxes from ``left``, its captions in the gutter before that."""
    numbers, width = {id(lot): i for i, lot in enumerate(plan.lots)}, room(plan)
    rows = _rows(plan, width, top)
    row_of(sheet, plan.cores, numbers, left, width, rows.core, rows.core_height)
    x = left + (width - plan.sections_width) / 2
    for lot in plan.managers:
        place(sheet, lot, numbers[id(lot)], Box(x, rows.host, lot.label_width, lot.label_height, lot.kind, lot.title))
        x += lot.label_width + GAP
    x += COLUMN_GAP if plan.managers else 0
    for section in plan.sections:
        _section(sheet, section, numbers, x, rows, (left, width))
        x += section.width + SECTION_GAP - 2 * FRAME
    _frames(sheet, plan, numbers, rows)
    lines.draw(sheet, plan, way)
    _captions(sheet, plan, left - GUTTER, rows)


@dataclass(frozen=True)
class Rows:
    """Upper edges and heights of the rows of boxes; a height of 0 is a row that is not there."""

    core: float
    core_height: float
    spine: float
    spine_height: float
    leaf: float
    leaf_height: float
    host: float


def _rows(plan: Plan, width: float, head: float) -> Rows:
    def height(lots: Sequence[Lot]) -> float:
        return max((lot.label_height for lot in lots), default=0.0)

    spines = height([lot for s in plan.sections for lot in s.spines])
    cores, leaves = height(plan.cores), height([lot for s in plan.sections for c in s.columns for lot in c.leaves])
    wide = min(250.0, max(96.0, width * 0.15))
    inside = wide if not plan.view.fabric.pods else min(wide, 110.0)
    core = head
    spine = core + (cores + wide + TITLE if cores else 0) + (TITLE if plan.view.fabric.pods else 0)
    leaf = spine + (spines + inside if spines else 0) + TITLE
    leaf += lines.RISE * width if any(b.joins == "leaf-leaf" for b in plan.bundles) else 0
    beside = 11 * LEAD * len(captions.tier(plan.view, "leaf")) + 10 * LEAD * len(captions.joined(plan.bundles, ("host-leaf",))) + 3 * GAP
    alone = any(len(c.hosts) > 1 for s in plan.sections for c in s.columns)
    return Rows(core, cores, spine, spines, leaf, leaves, leaf + max(beside + GAP, leaves + (140 if alone else 80)))


def _section(sheet: Sheet, section: Section, numbers: dict[int, int], x: float, rows: Rows, all_of_it: tuple[float, float]) -> None:
    """Spines over columns; spines that are those of all columns have the whole width, given as its beginning and its length."""
    left, width = (x + section.pad, section.width - 2 * section.pad) if section.label else all_of_it
    row_of(sheet, section.spines, numbers, left, width, rows.spine, rows.spine_height)
    at = x + (section.width - section.inner_width) / 2
    for col in section.columns:
        _column(sheet, col, numbers, at, rows)
        at += col.width + COLUMN_GAP


def _frames(sheet: Sheet, plan: Plan, numbers: dict[int, int], rows: Rows) -> None:
    """Frames round pods and round units; all of a kind end at the same height, with their labels at the bottom, where no line passes."""
    lowest = max(sheet.at[numbers[id(lot)]].bottom for col in plan.columns for lot in col.hosts)
    inner = [] if not any(s.nested for s in plan.sections) else [TITLE]
    for section in plan.sections:
        if section.label:
            boxes = [sheet.at[numbers[id(lot)]] for lot in (*section.spines, *(lot for col in section.columns for lot in (*col.leaves, *col.hosts)))]
            left, right = min(b.x for b in boxes) - section.pad, max(b.x + b.w for b in boxes) + section.pad
            left, right = at_least(left, right, text_width(section.label, 11, strong=True) + FRAME)
            frame(sheet, section.label, Box(left, rows.spine - FRAME, right - left, lowest - rows.spine + FRAME + TITLE + sum(inner), "frame", section.label, 6), 11)
        for col in section.columns:
            if section.nested or not section.label and (plan.view.fabric.by_rail or len(col.groups) > 1):
                boxes = [sheet.at[numbers[id(lot)]] for lot in (*col.leaves, *col.hosts)]
                left, right = at_least(min(b.x for b in boxes) - FRAME, max(b.x + b.w for b in boxes) + FRAME, text_width(col.label, 11, strong=True) + FRAME)
                box = Box(left, rows.leaf - FRAME, right - left, lowest - rows.leaf + FRAME + TITLE, "inner" if plan.view.fabric.pods else "frame", col.label, 6)
                frame(sheet, col.label, box, 10 if plan.view.fabric.pods else 11)


def _column(sheet: Sheet, col: Column, numbers: dict[int, int], x: float, rows: Rows) -> None:
    """Leaves over hosts."""
    row_of(sheet, col.leaves, numbers, x, col.width, rows.leaf, rows.leaf_height)
    first = col.hosts[0]
    if not first.cells:
        row_of(sheet, col.hosts, numbers, x, col.width, rows.host, max(lot.label_height for lot in col.hosts))
        return
    across = cells_across(first, col.width)
    down, each, tall = -(-len(first.cells) // across), (col.width - PAD) / across, CELL + 7
    box = Box(x, rows.host, col.width, LEADING + PAD + down * (tall + 2) + 2, "host", first.title)
    place(sheet, first, numbers[id(first)], box)
    sheet.words.append(Words(box.cx, box.y + 12, ", ".join(first.label), "", NAME, "middle", "mono"))
    for i, name in enumerate(first.cells):
        cell = Box(x + PAD / 2 + i % across * each + 1, box.y + LEADING + PAD / 2 + i // across * (tall + 2), each - 2, tall, "cell", name)
        sheet.boxes.append(cell)
        sheet.words.append(Words(cell.cx, cell.y + tall - 5, name, "", CELL, "middle", "mono"))


def _captions(sheet: Sheet, plan: Plan, x: float, rows: Rows) -> None:
    """A tier's caption stands beside its boxes, that of what joins it to the next tier in the middle between, but below the first."""
    view, below = plan.view, {}
    for kind, y, height in (("core", rows.core, rows.core_height), ("spine", rows.spine, rows.spine_height), ("leaf", rows.leaf, rows.leaf_height)):
        told = captions.tier(view, kind) if height else ()
        sheet.words += column(x, y + 10, told, 11)
        below[kind] = y + 10 + 11 * LEAD * len(told)
    sheet.words += column(x, rows.host + 10, captions.hosts(view), 11)
    gaps: tuple[tuple[Joins, float, float], ...] = (
        ("spine-core", below["core"], rows.spine), ("leaf-spine", below["spine"], rows.leaf), ("host-leaf", below["leaf"], rows.host), ("leaf-leaf", rows.leaf - 130, rows.leaf - 30),
    )  # fmt: skip
    for joins, top, bottom in gaps:
        told = captions.joined(plan.bundles, (joins,))
        sheet.words += column(x + 12, max(top, (top + bottom) / 2 - 10 * LEAD * len(told) / 2) + 10, told, 10)


def _legend(sheet: Sheet, plan: Plan, x: float, y: float, way_label: str) -> float:
    """Which hue is which rail or plane, and what the bold line is; the lower edge."""
    hues = sorted({lot.hue for lot in plan.lots if lot.hue is not None})[: lines.HUES]
    fabric = plan.view.fabric
    by_rail = fabric.by_rail and plan.view.rail is None and (fabric.planes == 1 or any(lot.single and lot.kind == "leaf" for lot in plan.lots))
    entries = [(f"hue{hue + 1}", f"{'rail' if by_rail else 'plane'} {hue + 1}") for hue in hues] if len(hues) > 1 else []
    entries += [("way", way_label)] if way_label else []
    return legend(sheet, entries, x, y, x + room(plan)) if entries else y - MARGIN
