"""A tree by tiers: hosts at the bottom, then leaves, spines and cores, every bundle of links as one line."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from . import captions
from .levels import COLUMN_GAP, FEW, FRAME, GAP, SECTION_GAP, Column, Plan, Section, cells_across
from .lots import CELL, LEADING, NAME, PAD, Lot
from .picture import Box, Line, Picture, Words, column, text_width
from .view import Bundle

MARGIN, GUTTER = 28, 212  # round the picture; for the captions at the left
TITLE = 20
TAGS = 48  # bundles between two tiers that get their number written beside them where the numbers differ
DENSE = 100  # bundles between two tiers from which on lines are drawn finer
NARROWEST = 620
HUES = 8


@dataclass
class Sheet:
    """A picture in the making; ``at`` is where the box of each lot, by its number, stands."""

    frames: list[Box] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    words: list[Words] = field(default_factory=list)
    at: dict[int, Box] = field(default_factory=dict)


def draw(plan: Plan, title: str, figures: str, way: frozenset[int] = frozenset()) -> Picture:
    """The picture of a plan. ``way`` are numbers of bundles that are drawn bold."""
    sheet, numbers = Sheet(), {id(lot): i for i, lot in enumerate(plan.lots)}
    width = max(plan.width + 2 * FRAME, NARROWEST)
    left = MARGIN + GUTTER
    head = _header(sheet, title, figures, left + width)
    rows = _rows(plan, width, head)
    _cores(sheet, plan, numbers, left, width, rows)
    start = left + (width - plan.sections_width) / 2
    x = start + plan.managers_width
    for section in plan.sections:
        _section(sheet, section, numbers, x, rows, plan)
        x += section.width + SECTION_GAP - 2 * FRAME
    _frames(sheet, plan, numbers, rows)
    _managers(sheet, plan, numbers, start, rows)
    _lines(sheet, plan, way)
    _captions(sheet, plan, rows)
    bottom = max(b.bottom for b in (*sheet.boxes, *sheet.frames)) + MARGIN
    bottom = _legend(sheet, plan, left, bottom)
    return Picture(left + width + MARGIN, bottom + MARGIN, title, figures, tuple(sheet.frames), tuple(sheet.lines), tuple(sheet.boxes), (), tuple(sheet.words))


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
    alone = any(len(c.hosts) > 1 for s in plan.sections for c in s.columns)
    return Rows(core, cores, spine, spines, leaf, leaves, leaf + leaves + (140 if alone else 92))


def _header(sheet: Sheet, title: str, figures: str, right: float) -> float:
    sheet.words.append(Words(MARGIN, MARGIN + 14, title, "strong", 19))
    parts, lines = figures.split(" · "), [""]
    for part in parts:
        longer = f"{lines[-1]} · {part}" if lines[-1] else part
        if text_width(longer, 12) > right - MARGIN and lines[-1]:
            lines.append(part)
        else:
            lines[-1] = longer
    sheet.words += column(MARGIN, MARGIN + 36, [(line, "quiet") for line in lines], 12)
    return MARGIN + 36 + len(lines) * 16 + 22


def _place(sheet: Sheet, lot: Lot, number: int, box: Box) -> None:
    """A box with its words in the middle, and a bar in the hue of its rail or plane at the top."""
    sheet.at[number] = box
    sheet.boxes.append(box)
    if lot.cells:
        return
    top = box.y + (box.h - len(lot.label) * LEADING) / 2 + 10
    sheet.words += [Words(box.cx, top + i * LEADING, line, "quiet" if i else "", NAME, "middle", "mono") for i, line in enumerate(lot.label)]


def _row(sheet: Sheet, row: Sequence[Lot], numbers: dict[int, int], x: float, width: float, y: float, height: float) -> None:
    """Boxes side by side, spread over the width but not pulled wider than a half more than their words need."""
    if not row:
        return
    widest = max(lot.label_width for lot in row)
    each = min((width - GAP * (len(row) - 1)) / len(row), widest * 1.5)
    step = min((width - each) / (len(row) - 1), each * 2.2) if len(row) > 1 else 0
    first = x + (width - step * (len(row) - 1) - each) / 2
    for i, lot in enumerate(row):
        _place(sheet, lot, numbers[id(lot)], Box(first + i * step, y, each, height, lot.kind, lot.title))


def _cores(sheet: Sheet, plan: Plan, numbers: dict[int, int], left: float, width: float, rows: Rows) -> None:
    _row(sheet, plan.cores, numbers, left, width, rows.core, rows.core_height)


def _managers(sheet: Sheet, plan: Plan, numbers: dict[int, int], x: float, rows: Rows) -> None:
    for lot in plan.managers:
        _place(sheet, lot, numbers[id(lot)], Box(x, rows.host, lot.label_width, lot.label_height, lot.kind, lot.title))
        x += lot.label_width + GAP


def _section(sheet: Sheet, section: Section, numbers: dict[int, int], x: float, rows: Rows, plan: Plan) -> None:
    if section.label:
        _row(sheet, section.spines, numbers, x + section.pad, section.width - 2 * section.pad, rows.spine, rows.spine_height)
    else:
        _row(sheet, section.spines, numbers, MARGIN + GUTTER, max(plan.width + 2 * FRAME, NARROWEST), rows.spine, rows.spine_height)
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
            left, right = _at_least(left, right, text_width(section.label, 11, strong=True) + FRAME)
            _frame(sheet, section.label, Box(left, rows.spine - FRAME, right - left, lowest - rows.spine + FRAME + TITLE + sum(inner), "frame", section.label), 11)
        for col in section.columns:
            if section.nested or not section.label and (plan.view.fabric.by_rail or len(col.groups) > 1):
                boxes = [sheet.at[numbers[id(lot)]] for lot in (*col.leaves, *col.hosts)]
                left, right = _at_least(min(b.x for b in boxes) - FRAME, max(b.x + b.w for b in boxes) + FRAME, text_width(col.label, 11, strong=True) + FRAME)
                box = Box(left, rows.leaf - FRAME, right - left, lowest - rows.leaf + FRAME + TITLE, "inner" if section.label else "frame", col.label)
                _frame(sheet, col.label, box, 10 if section.label else 11)


def _at_least(left: float, right: float, width: float) -> tuple[float, float]:
    short = max(0.0, width - (right - left)) / 2
    return left - short, right + short


def _frame(sheet: Sheet, label: str, box: Box, size: float) -> None:
    sheet.frames.append(box)
    sheet.words.append(Words(box.cx, box.bottom - 7, label, "strong" if box.kind == "frame" else "quiet", size, "middle"))


def _column(sheet: Sheet, col: Column, numbers: dict[int, int], x: float, rows: Rows) -> None:
    """Leaves over hosts."""
    _row(sheet, col.leaves, numbers, x, col.width, rows.leaf, rows.leaf_height)
    first = col.hosts[0]
    if not first.cells:
        _row(sheet, col.hosts, numbers, x, col.width, rows.host, max(lot.label_height for lot in col.hosts))
        return
    across = cells_across(first, col.width)
    down, each, tall = -(-len(first.cells) // across), (col.width - PAD) / across, CELL + 7
    box = Box(x, rows.host, col.width, LEADING + PAD + down * (tall + 2) + 2, "host", first.title)
    _place(sheet, first, numbers[id(first)], box)
    sheet.words.append(Words(box.cx, box.y + 12, ", ".join(first.label), "", NAME, "middle", "mono"))
    for i, name in enumerate(first.cells):
        cell = Box(x + PAD / 2 + i % across * each + 1, box.y + LEADING + PAD / 2 + i // across * (tall + 2), each - 2, tall, "cell", name)
        sheet.boxes.append(cell)
        sheet.words.append(Words(cell.cx, cell.y + tall - 5, name, "", CELL, "middle", "mono"))


def _lines(sheet: Sheet, plan: Plan, way: frozenset[int]) -> None:
    """Every bundle from the top of its lower box to the bottom of its upper one. Ends spread over an edge in the order of where they
    lead; a box of many hosts sends a line straight down from each leaf."""
    ends: dict[tuple[int, bool], list[int]] = defaultdict(list)
    for n, b in enumerate(plan.bundles):
        ends[b.a, True].append(n)
        ends[b.b, False].append(n)
    place: dict[tuple[int, bool], float] = {}
    for (lot, up), mine in ends.items():
        box = sheet.at[lot]
        mine.sort(key=lambda n: (sheet.at[plan.bundles[n].b if up else plan.bundles[n].a].cx, n))
        room = box.w * 0.76
        for k, n in enumerate(mine):
            place[n, up] = box.cx + (0 if len(mine) == 1 else room * (k / (len(mine) - 1) - 0.5))
    drawn = []
    lines_of = Counter(b.joins for b in plan.bundles)
    for n, b in enumerate(plan.bundles):
        low, high = sheet.at[b.a], sheet.at[b.b]
        x = place[n, False]
        x_low = place[n, True]
        if b.joins == "host-leaf" and not plan.lots[b.a].single or low.w > 3 * high.w and low.x < x < low.x + low.w:
            x_low = min(max(x, low.x + 4), low.x + low.w - 4)
        drawn.append((n, Line((x_low, low.y), (x, high.bottom), *_look(plan, b, n in way, lines_of[b.joins] > DENSE), told(plan, b))))
    sheet.lines += [line for n, line in sorted(drawn, key=lambda d: d[0] in way)]
    _tags(sheet, plan, [line for _, line in drawn])


def _look(plan: Plan, b: Bundle, bold: bool, dense: bool) -> tuple[str, float]:
    """Kind and width of a line: thicker by a half pixel for every doubling of the links, up to 5 pixels; finer among many."""
    if bold:
        return "way", 3
    if b.joins == "manager-leaf":
        return "to-manager", 1
    hue = plan.lots[b.b if b.joins == "host-leaf" else b.a].hue if b.joins != "spine-core" else None
    kind = "link" if hue is None else f"hue{hue % HUES + 1}"
    weight = min(5.0, 1 + (b.links.bit_length() - 1) / 2)
    return (f"{kind} fine", max(0.8, weight / 2)) if dense else (kind, weight)


def told(plan: Plan, b: Bundle) -> str:
    """The title of a bundle: both ends, how many links, how fast, at which ports."""
    ends = [plan.lots[lot].title.split(":")[0] if plan.lots[lot].single else plan.lots[lot].title.split(",")[0].split(":")[0] for lot in (b.a, b.b)]
    text = f"{ends[0]} to {ends[1]}: {b.links:,} {'link' if b.links == 1 else 'links'} of {' and '.join(map(str, b.gbps))} Gb/s"
    if b.b_ports:
        ports = " to ".join(_ports(p) for p in (b.a_ports, b.b_ports) if p)
        text += f", port{'s' if b.links > 1 or b.a_ports else ''} {ports}"
    return text


def _ports(ports: tuple[int, ...]) -> str:
    if len(ports) > 1 and ports[-1] - ports[0] == len(ports) - 1:
        return f"{ports[0]}-{ports[-1]}"
    return ",".join(map(str, ports))


def _tags(sheet: Sheet, plan: Plan, lines: list[Line]) -> None:
    """The number of links beside the lines of a gap, where there are few enough and they differ or stand for many."""
    by_gap: dict[str, list[int]] = defaultdict(list)
    for n, b in enumerate(plan.bundles):
        by_gap[b.joins].append(n)
    taken: list[tuple[float, float, float]] = []
    for mine in by_gap.values():
        if len(mine) > TAGS or len({plan.bundles[n].links for n in mine}) == 1 and (plan.bundles[mine[0]].links == 1 or len(mine) > FEW):
            continue
        for n in mine:
            text, line = f"{plan.bundles[n].links:,}", lines[n]
            half = text_width(text, 9, "mono") / 2 + 2
            for t in (0.5, 0.35, 0.65, 0.22, 0.78):
                x, y = (a + (b - a) * t for a, b in zip(line.a, line.b, strict=True))
                if all(abs(x - other) >= half + reach or abs(y - level) >= 12 for other, level, reach in taken):
                    taken.append((x, y, half))
                    sheet.words.append(Words(x, y + 3, text, "tag", 9, "middle", "mono"))
                    break


def _captions(sheet: Sheet, plan: Plan, rows: Rows) -> None:
    view = plan.view
    tiers = [("core", rows.core, rows.core_height), ("spine", rows.spine, rows.spine_height), ("leaf", rows.leaf, rows.leaf_height)]
    for kind, y, height in tiers:
        if height:
            sheet.words += column(MARGIN, y + 10, captions.tier(view, kind), 11)
    sheet.words += column(MARGIN, rows.host + 10, captions.hosts(view), 11)
    gaps = [(("spine-core",), rows.core + rows.core_height, rows.spine), (("leaf-spine",), rows.spine + rows.spine_height, rows.leaf), (("host-leaf",), rows.leaf + rows.leaf_height, rows.host)]
    for joins, top, bottom in gaps:
        lines = captions.joined(plan.bundles, joins)  # type: ignore[arg-type]
        if lines:
            sheet.words += column(MARGIN + 12, (top + bottom) / 2 + 8, lines, 10)


def _legend(sheet: Sheet, plan: Plan, x: float, y: float) -> float:
    """Which hue is which rail or plane, and how the manager's links look."""
    hues = sorted({lot.hue for lot in plan.lots if lot.hue is not None})
    noun = "rail" if plan.view.fabric.by_rail and plan.view.rail is None and any(lot.single and lot.kind == "leaf" for lot in plan.lots) else "plane"
    if len(hues) > 1:
        for hue in hues[:HUES]:
            text = f"{noun} {hue + 1}"
            sheet.boxes.append(Box(x, y, 14, 8, f"hue{hue % HUES + 1}", text))
            sheet.words.append(Words(x + 19, y + 8, text, "quiet", 10))
            x += 19 + text_width(text, 10) + 16
        return y + 8
    return y - MARGIN
