"""Bundles of links as lines between boxes, with the number of links in their titles and, where that helps, beside them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

from .levels import FEW
from .picture import Line, Words, text_width
from .plan import Plan
from .sheet import Sheet
from .view import Bundle

TAGS = 48  # bundles between two tiers that get their number written beside them where the numbers differ
DENSE = 60  # bundles between two tiers from which on lines are drawn finer
HUES = 8
SPREAD = 0.76  # share of an edge that ends are spread over
RISE = 0.2  # height of an arc over its span


def draw(sheet: Sheet, plan: Plan, way: frozenset[int]) -> None:
    """Every bundle from the top of its lower box to the bottom of its upper one, or in an arc between boxes of one row. Those of
    ``way`` are drawn last and bold. Links inside a box are told in its title."""
    ends = _ends(sheet, plan)
    lines_of = Counter(b.joins for b in plan.bundles)
    drawn: dict[int, Line] = {}
    for n, b in enumerate(plan.bundles):
        low, high = sheet.at[b.a], sheet.at[b.b]
        if b.a == b.b:
            sheet.boxes[sheet.boxes.index(low)] = sheet.at[b.a] = replace(low, title=f"{low.title}, {b.links:,} links among them")
            continue
        look = _look(plan, b, n in way, lines_of[b.joins] > DENSE)
        if low.y == high.y:
            drawn[n] = Line((ends[n, True], low.y), (ends[n, False], high.y), *look, told(plan, b), abs(high.cx - low.cx) * RISE)
        else:
            drawn[n] = Line((ends[n, True], low.y), (ends[n, False], high.bottom), *look, told(plan, b))
    sheet.lines += [drawn[n] for n in sorted(drawn, key=lambda n: n in way)]
    _tags(sheet, plan, drawn)


def _ends(sheet: Sheet, plan: Plan) -> dict[tuple[int, bool], float]:
    """Where a bundle, by its number, ends at its lower and at its upper box: spread over an edge in the order of where bundles lead. A
    box of many hosts sends a line straight up to each leaf."""
    edges: dict[tuple[int, bool], list[tuple[float, int, bool]]] = defaultdict(list)
    for n, b in enumerate(plan.bundles):
        level = sheet.at[b.a].y == sheet.at[b.b].y
        edges[b.a, True].append((sheet.at[b.b].cx, n, True))
        edges[b.b, level].append((sheet.at[b.a].cx, n, False))
    out: dict[tuple[int, bool], float] = {}
    for (lot, _), mine in edges.items():
        box, last = sheet.at[lot], len(mine) - 1
        for k, (_, n, lower) in enumerate(sorted(mine)):
            out[n, lower] = box.cx + (box.w * SPREAD * (k / last - 0.5) if last else 0)
    for n, b in enumerate(plan.bundles):
        low, x = sheet.at[b.a], out[n, False]
        if b.joins == "host-leaf" and not plan.lots[b.a].single:
            out[n, True] = min(max(x, low.x + 4), low.x + low.w - 4)
    return out


def _look(plan: Plan, b: Bundle, bold: bool, dense: bool) -> tuple[str, float]:
    """Kind and width of a line."""
    if bold:
        return "way", 3
    if b.joins == "manager-leaf":
        return "to-manager", 1
    hues = {"host-leaf": (b.b,), "leaf-spine": (b.a, b.b)}.get(b.joins, ())
    hue = next((plan.lots[lot].hue for lot in hues if plan.lots[lot].hue is not None), None)
    kind = "link" if hue is None else f"hue{hue % HUES + 1}"
    return f"{kind} fine" if dense else kind, weight(b.links, dense)


def weight(links: int, dense: bool) -> float:
    """Pixels of a line: a half more for every doubling of its links, up to 5; half of that where lines are dense."""
    pixels = min(5.0, 1 + (links.bit_length() - 1) / 2)
    return max(0.8, pixels / 2) if dense else pixels


def told(plan: Plan, b: Bundle) -> str:
    """The title of a bundle: both ends, how many links, how fast, at which ports."""
    text = f"{plan.lots[b.a].what} to {plan.lots[b.b].what}: {b.told}"
    if b.b_ports:
        ports = " to ".join(_ports(p) for p in (b.a_ports, b.b_ports) if p)
        text += f", port{'s' if b.links > 1 or b.a_ports else ''} {ports}"
    return text


def _ports(ports: tuple[int, ...]) -> str:
    if len(ports) > 1 and ports[-1] - ports[0] == len(ports) - 1:
        return f"{ports[0]}-{ports[-1]}"
    return ",".join(map(str, ports))


def _tags(sheet: Sheet, plan: Plan, lines: dict[int, Line]) -> None:
    """The number of links beside the lines of a gap, where there are few enough and they differ or stand for many."""
    by_gap: dict[str, list[int]] = defaultdict(list)
    for n in lines:
        by_gap[plan.bundles[n].joins].append(n)
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
