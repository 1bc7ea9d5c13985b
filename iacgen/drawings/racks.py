"""The racks of a hall, row by row: what stands in each, and a bar of its power against what a rack may draw."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from iacgen import units
from iacgen.design.facility import Facility, Rack, Standing
from iacgen.design.model import Design

from .lots import counted, span
from .picture import Box, Picture, Words, column, text_width
from .sheet import MARGIN, Sheet, header, legend

GUTTER = 118  # left of a row, for its figures
UNIT = 5  # pixels of a rack unit
WIDE, BAR, PITCH = 62, 6, 80  # of a rack, of its power bar, from rack to rack
FOOT = 44  # below a rack, for its name and its power
ACROSS = 22  # racks side by side before a row goes on below
MOST_THINGS = 700  # in the rows that are drawn in full
MOST_RACKS = 120
MOST_STRIPS = 60  # of the other rows
STRIP = 20  # height of one
KINDS = {"gpu": "GPU machines", "host": "other machines", "leaf": "leaf switches", "spine": "spine switches", "core": "core switches", "fill": "power, of what a rack may draw", "full": "over 90 % of it", "over": "over all of it"}


@dataclass(frozen=True)
class Block:
    """Neighbours of one model in a rack that are drawn as one."""

    things: tuple[Standing, ...]
    kind: str

    @property
    def unit(self) -> int:
        """The lowest unit that it fills."""
        return min(thing.unit for thing in self.things)

    @property
    def units(self) -> int:
        """How many it fills."""
        return sum(thing.units for thing in self.things)

    @property
    def title(self) -> str:
        """Who it is, which units it fills, what it draws."""
        top = self.unit + self.units - 1
        watts = [thing.power_w for thing in self.things]
        power = "power not published" if None in watts else units.kilowatts(sum(w for w in watts if w is not None))
        where = f"unit {top}" if self.unit == top else f"units {self.unit} to {top}"
        names = span([thing.name for thing in self.things])
        return f"{names}: {self.things[0].model}, {where}, {power}" if len(self.things) == 1 else f"{names}: {len(self.things):,} × {self.things[0].model}, {where}, {power}"


def draw(design: Design, facility: Facility) -> Picture:
    """The hall: rack by rack where that is not too much, else its first rows so and every other row as a strip."""
    sheet, kinds = Sheet(), _kinds(design, facility)
    rows = {row: sorted(racks, key=lambda r: r.place) for row, racks in groupby(sorted(facility.racks, key=lambda r: r.row), key=lambda r: r.row)}
    full = _in_full(rows)
    single = sum(len(rack.contents) for racks in full.values() for rack in racks) <= MOST_THINGS
    width = 2 * MARGIN + GUTTER + PITCH * min(ACROSS, max((rack.place for racks in full.values() for rack in racks), default=1))
    width = max(width, 760)
    title = f"{facility.site}: {counted(len(facility.racks), 'rack')} in {counted(len(rows), 'row')}"
    figures = _figures(facility)
    y = header(sheet, title, figures, width - MARGIN)
    for row, racks in full.items():
        y = _row(sheet, facility, row, racks, kinds, single, y)
    rest = {row: left for row, racks in rows.items() if (left := racks[len(full.get(row, ())) :])}
    if rest:
        y = _strips(sheet, facility, rest, frozenset(full), kinds, y, width)
    shown = {box.kind for box in sheet.boxes}
    y = legend(sheet, [(kind, text) for kind, text in KINDS.items() if kind in shown], MARGIN + GUTTER, y + 6, width - MARGIN)
    return sheet.picture(width, y + MARGIN, title, figures)


def _kinds(design: Design, facility: Facility) -> Mapping[str, str]:
    """Name of a thing → its kind."""
    out = {host: "gpu" if pool.gpu else "host" for pool in design.pools.values() if pool.site == facility.site for host in pool.hosts}
    for fabric in design.fabrics.values():
        if fabric.site == facility.site:
            out |= {name: tier.kind for tier in fabric.tiers for name in tier.names}
    return out


def _in_full(rows: Mapping[int, Sequence[Rack]]) -> Mapping[int, Sequence[Rack]]:
    """All rows, where their racks are not too many; else the first two, and of a long row its beginning."""
    if sum(map(len, rows.values())) <= MOST_RACKS:
        return rows
    return {row: racks[: MOST_RACKS // 2] for row, racks in list(rows.items())[:2]}


def _figures(facility: Facility) -> str:
    limits, plant, feeds = facility.limits, facility.plant, facility.feeds
    parts = [f"{units.kilowatts(facility.power_w)} at most", f"a rack has {limits.units} units and {units.kilowatts(limits.power_w)}"]
    if limits.cooling_w != limits.power_w:
        parts.append(f"{units.kilowatts(limits.cooling_w)} of heat leave a rack")
    if plant:
        parts.append(f"cooling {plant.kind}, {plant.redundancy}: {units.kilowatts(plant.capacity_w)}")
    if feeds:
        parts.append(f"{counted(feeds.count, 'feed')} of {units.kilowatts(feeds.capacity_w)}, {feeds.redundancy}")
    if facility.unknown:
        parts.append(f"not published and counted as nothing: {', '.join(facility.unknown)}")
    return " · ".join(parts)


def _row(sheet: Sheet, facility: Facility, row: int, racks: Sequence[Rack], kinds: Mapping[str, str], single: bool, y: float) -> float:
    """The racks of a row at their places; a long row goes on below. The lower edge."""
    tall = facility.limits.units * UNIT
    told = [(f"Row {row}", "strong"), (counted(len(racks), "rack"), "quiet"), (units.kilowatts(sum(r.power_w for r in racks)), "quiet")]
    sheet.words += column(MARGIN, y + 12, told, 11)
    lines = {(rack.place - 1) // ACROSS for rack in racks}
    for n, line in enumerate(sorted(lines)):
        top = y + n * (tall + FOOT + 14)
        for rack in racks:
            if (rack.place - 1) // ACROSS == line:
                _rack(sheet, facility, rack, kinds, single, MARGIN + GUTTER + (rack.place - 1) % ACROSS * PITCH, top)
    return y + len(lines) * (tall + FOOT + 14)


def _rack(sheet: Sheet, facility: Facility, rack: Rack, kinds: Mapping[str, str], single: bool, x: float, y: float) -> None:
    limits = facility.limits
    tall = limits.units * UNIT
    weight = f", {rack.weight_kg:,.0f} kg" if rack.weight_kg else ""
    sheet.frames.append(Box(x, y, WIDE, tall, "rack", f"{rack.name}: row {rack.row}, place {rack.place}, {rack.units} of {limits.units} units filled{weight}", 2))
    for block in _blocks(rack, kinds, single):
        box = Box(x + 1, y + tall - (block.unit - 1 + block.units) * UNIT, WIDE - 2, block.units * UNIT, block.kind, block.title, 1)
        sheet.boxes.append(box)
    for run in _blocks(rack, kinds, False):
        for block in ([Block((thing,), run.kind) for thing in run.things] if single and run.things[0].units > 1 else [run]):
            if block.units > 1:
                text = _label(block)
                size = min(7.5, (WIDE - 6) / text_width(text, 1, "mono"))
                middle = y + tall - (block.unit - 1 + block.units / 2) * UNIT
                if single and len(block.things) > 1:  # or the edges of the things would strike it through
                    wide = text_width(text, size, "mono")
                    sheet.boxes.append(Box(x + (WIDE - wide) / 2, middle - size / 2 + 0.5, wide, size - 1, f"on-{block.kind}", block.title, 1))
                sheet.words.append(Words(x + WIDE / 2, middle + size / 3, text, f"on-{block.kind}", size, "middle", "mono"))
    _power(sheet, rack, limits.power_w, x + WIDE + 2, y, tall)
    name = min(8.0, (PITCH - 4) / text_width(rack.name, 1, "mono"))
    middle = x + (WIDE + BAR + 2) / 2
    sheet.words.append(Words(middle, y + tall + 13, rack.name, "", name, "middle", "mono"))
    sheet.words.append(Words(middle, y + tall + 24, _power_words(rack), "quiet", 8, "middle"))


def _blocks(rack: Rack, kinds: Mapping[str, str], single: bool) -> Iterator[Block]:
    """Things one by one, or neighbours of a model and a kind together."""
    if single:
        yield from (Block((thing,), kinds[thing.name]) for thing in rack.contents)
        return
    run: list[Standing] = []
    for thing in rack.contents:
        if run and (thing.model, kinds[thing.name], thing.unit) != (run[-1].model, kinds[run[-1].name], run[-1].unit + run[-1].units):
            yield Block(tuple(run), kinds[run[0].name])
            run = []
        run.append(thing)
    if run:
        yield Block(tuple(run), kinds[run[0].name])


def _label(block: Block) -> str:
    """The name of one thing, or how many there are of which pool or tier."""
    name = block.things[0].name
    if len(block.things) == 1:
        return name if len(name) <= 12 else name.rpartition("-")[2]
    return f"{len(block.things)} × {name.rstrip('0123456789').rpartition('-')[2] or name}"


def _known(rack: Rack) -> bool:
    return all(thing.power_w is not None for thing in rack.contents)


def _power_words(rack: Rack) -> str:
    if _known(rack):
        return units.kilowatts(rack.power_w)
    return f"≥ {units.kilowatts(rack.power_w)}" if rack.power_w else "not known"


def _power(sheet: Sheet, rack: Rack, limit_w: int, x: float, y: float, tall: float) -> None:
    """A bar as high as the rack stands for all that it may draw; what it draws is filled."""
    share = rack.power_w / limit_w
    title = f"{rack.name}: {_power_words(rack)} of {units.kilowatts(limit_w)}, {share:.0%}"
    sheet.frames.append(Box(x, y, BAR, tall, "gauge", title, 1))
    filled = min(1.0, share) * tall
    if filled:
        sheet.boxes.append(Box(x, y + tall - filled, BAR, filled, _level(share), title, 1))


def _level(share: float) -> str:
    return "over" if share > 1 else "full" if share > 0.9 else "fill"


def _strips(sheet: Sheet, facility: Facility, rows: Mapping[int, Sequence[Rack]], full: frozenset[int], kinds: Mapping[str, str], y: float, width: float) -> float:
    """A strip a row, or a run of rows; of those in ``full`` it is the rest. The lower edge."""
    numbers = list(rows)
    size = -(-len(numbers) // MOST_STRIPS)
    places = max(facility.floor.row_length, max(rack.place for racks in rows.values() for rack in racks)) * size
    each = (width - 2 * MARGIN - GUTTER - 210) / places
    for at in range(0, len(numbers), size):
        own = numbers[at : at + size]
        label = f"Row {own[0]}" if len(own) == 1 else f"Rows {own[0]}–{own[-1]}"
        label += " (rest)" if any(row in full for row in own) else ""
        racks = [rack for row in own for rack in rows[row]]
        sheet.words.append(Words(MARGIN, y + 14, label, "strong", 10))
        _strip(sheet, label, racks, kinds, each, y)
        left = width - MARGIN - 200
        _total(sheet, label, sum(rack.power_w for rack in racks), len(racks) * facility.limits.power_w, left, y)
        y += STRIP
    return y + 14


def _strip(sheet: Sheet, label: str, racks: Sequence[Rack], kinds: Mapping[str, str], each: float, y: float) -> None:
    """Racks of a kind as one box, ``each`` pixels wide for a rack."""
    by_kind: dict[str, list[Rack]] = defaultdict(list)
    for rack in racks:
        by_kind[rack.name.rpartition("-r")[0]].append(rack)
    x: float = MARGIN + GUTTER
    for name, members in by_kind.items():
        wide, things = each * len(members), [thing for rack in members for thing in rack.contents]
        title = f"{label}: {counted(len(members), 'rack')} {name}, {counted(len(things), 'device')}, {units.kilowatts(sum(rack.power_w for rack in members))}"
        kind = kinds[things[0].name] if things else "rack"  # racks of machines that are only planned
        box = Box(x, y, wide - min(2.0, wide * 0.1), STRIP - 4, kind, title)
        sheet.boxes.append(box)
        text = next((t for t in (f"{len(members):,} × {name}", f"{len(members):,}") if text_width(t, 9, "mono") < box.w - 4), "")
        if text:
            sheet.words.append(Words(box.cx, y + 11, text, f"on-{box.kind}", 9, "middle", "mono"))
        x += wide


def _total(sheet: Sheet, label: str, watts: int, limit_w: int, x: float, y: float) -> None:
    """The power of racks as a bar that lies, as long as all that they may draw."""
    bar, share = 120, watts / limit_w
    title = f"{label}: {units.kilowatts(watts)} of {units.kilowatts(limit_w)}, {share:.0%}"
    sheet.frames.append(Box(x, y + 4, bar, 8, "gauge", title, 1))
    if watts:
        sheet.boxes.append(Box(x, y + 4, max(0.5, bar * min(1.0, share)), 8, _level(share), title, 1))  # a little is not nothing
    sheet.words.append(Words(x + bar + 8, y + 12, units.kilowatts(watts), "quiet", 9))
