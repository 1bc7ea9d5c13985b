"""What to buy for a fabric: switches, cables by kind and length, transceivers by used cage, and spares."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from ...design.facility.cables import NO_CABLE, Cable, parts
from ...render import csv_text
from .wired import Wired

COLUMNS = ("item", "model", "part_number", "medium", "gbps", "length_m", "links", "count", "spares", "order", "power_w_each", "power_w")
# Spares of each kind of cable and of transceiver: 2 in 100, at least one. Our own rule, the same for every cluster: such parts are
# replaced at once, and a switch by its maker.
SPARE_PERCENT = 2
UNKNOWN = "unknown"


def bill(wired: Wired) -> str:
    """``bill-of-materials.csv``. What nobody publishes reads ``unknown``, never 0; the model of a transceiver is
    its number; a fibre draws nothing and has an empty field."""
    return csv_text([COLUMNS, *_switches(wired), *_cables(wired), *_transceivers(wired), *_without_cable(wired)])


def spares(count: int) -> int:
    """Parts to keep beside ``count`` in use."""
    return -(-count * SPARE_PERCENT // 100)


def _switches(wired: Wired) -> Iterator[Sequence[object]]:
    found = Counter(tier.switch for tier in wired.fabric.tiers for _ in tier.names)
    for switch, count in sorted(found.items(), key=lambda item: item[0].id):
        kw = switch.power_kw_max or switch.power_kw_typical
        each = round(kw * 1000) if kw else None
        yield ("switch", switch.name, UNKNOWN, None, None, None, None, count, 0, count, *_power(each, count))


def _cables(wired: Wired) -> Iterator[Sequence[object]]:
    """Equal cables of all runs together."""
    known = _known(wired)
    lines: dict[tuple[str, int, float], list[int]] = defaultdict(lambda: [0, 0])
    for part in parts(wired.runs):
        if part.what == "cable" and part.model != NO_CABLE:  # those have a row of their own
            assert part.length_m is not None
            line = lines[part.model, part.gbps, part.length_m]
            line[0] += part.links
            line[1] += part.count
    for (model, gbps, length), (links, count) in sorted(lines.items(), key=lambda item: (item[0][1], known[item[0][:2]].id, item[0][2])):
        cable = known[model, gbps]
        # A cable of copper or with lasers has its figure for each end in a switch; with a host at the other end that draws its own.
        power = (None, None) if cable.switch_transceiver else _power(cable.power_w, count)
        yield ("cable", model, cable.part_numbers.get(length, UNKNOWN), cable.medium, gbps, int(length) if length.is_integer() else length, links, count, spares(count), count + spares(count), *power)


def _transceivers(wired: Wired) -> Iterator[Sequence[object]]:
    drawn = {(t.model, c.gbps): t.power_w for run in wired.runs for c in run.cables for t in (c.switch_transceiver, *c.host_ends.values()) if t}
    lines: dict[tuple[str, str, int], list[int]] = defaultdict(lambda: [0, 0])
    for part in parts(wired.runs):
        if part.what != "cable":
            line = lines[part.what, part.model, part.gbps]
            line[0] += part.links
            line[1] += part.count
    for (what, model, gbps), (links, count) in sorted(lines.items()):
        yield (what, model, model, None, gbps, None, links, count, spares(count), count + spares(count), *_power(drawn[model, gbps], count))


def _without_cable(wired: Wired) -> Iterator[Sequence[object]]:
    """Links for which the catalog has no cable, or none that reaches, or whose ends stand nowhere."""
    for (gbps, joins), count in sorted(Counter((w.gbps, w.joins) for w in wired.wires if w.medium is None).items()):
        yield (f"cable, {joins}", UNKNOWN, UNKNOWN, UNKNOWN, gbps, UNKNOWN, count, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN)


def _known(wired: Wired) -> dict[tuple[str, int], Cable]:
    return {(cable.model, cable.gbps): cable for run in wired.runs for cable in run.cables}


def _power(each: float | None, count: int) -> tuple[object, object]:
    return (UNKNOWN, UNKNOWN) if each is None else (each, round(each * count, 1))
