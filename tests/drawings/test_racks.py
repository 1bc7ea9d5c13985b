"""Drawings of racks: everything stands where the design says, a bar is as high as the power, and a hall of any size stays a small file."""

import re
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iacgen.drawings import draw_racks
from iacgen.pipeline import run

LARGEST = 300_000
UNIT = 5  # pixels


def hall(found):
    return found.facilities["hall"]


def test_every_thing_stands_at_its_unit(designed, Read, sound):
    found = designed(count=9, manager="ufm", site={"rack": {"power": "42kW", "units": 48}})
    read = Read(draw_racks(found, "hall"))
    sound(read)
    frames = {r.title.partition(":")[0]: r for r in read.of("rack")}
    things = {r.title.partition(":")[0]: r for kind in ("gpu", "host", "leaf", "spine") for r in read.of(kind)}
    assert frames.keys() == {rack.name for rack in hall(found).racks}
    assert things.keys() == {thing.name for rack in hall(found).racks for thing in rack.contents}
    for rack in hall(found).racks:
        frame = frames[rack.name]
        assert frame.bottom - frame.y == 48 * UNIT
        for thing in rack.contents:
            box = things[thing.name]
            assert frame.x <= box.x and box.right <= frame.right
            assert (round(frame.bottom - box.bottom), round(box.bottom - box.y)) == ((thing.unit - 1) * UNIT, thing.units * UNIT)


@pytest.mark.parametrize("count", [9, 40, 200])
def test_no_edge_strikes_a_label_through(designed, Read, count):
    """A label over several things lies on a ground of its own, which is drawn after their edges and hides what crosses the letters."""
    read = Read(draw_racks(designed(count=count, manager="ufm", site={"rack": {"power": "42kW", "units": 48}}), "hall"))
    labels = [words for words in read.words if any(kind.startswith("on-") for kind in words.kind)]
    assert labels
    crossed = 0
    for words in labels:
        middle = (words.left + words.right) / 2
        letters = (words.y - 0.55 * (words.y - words.top), words.y - 0.05 * (words.y - words.top))  # of small letters
        edges = [(i, r) for i, r in enumerate(read.rects) if r.x < middle < r.right and any(letters[0] < edge < letters[1] for edge in (r.y, r.bottom)) and not r.kind[0].startswith("on-")]
        for i, _ in edges:
            crossed += 1
            grounds = [r for r in read.rects[i + 1 :] if r.kind[0].startswith("on-") and r.x <= words.left + 0.3 and r.right >= words.right - 0.3 and r.y <= letters[0] and r.bottom >= letters[1]]
            assert grounds, words.text
    assert crossed


def test_racks_of_a_row_stand_in_the_order_of_their_places(designed, Read):
    found = designed(count=127, manager="ufm")
    frames = {r.title.partition(":")[0]: r for r in Read(draw_racks(found, "hall")).of("rack")}
    racks = sorted(hall(found).racks, key=lambda r: (r.row, r.place))
    for one, two in zip(racks, racks[1:]):
        a, b = frames[one.name], frames[two.name]
        assert (a.y == b.y and a.x < b.x) if one.row == two.row else a.y < b.y


def test_a_bar_is_as_high_as_the_power(designed, Read):
    found = designed(count=13, manager="ufm")
    read = Read(draw_racks(found, "hall"))
    limit = hall(found).limits.power_w
    gauges = {r.title.partition(":")[0]: r for r in read.of("gauge")}
    bars = {r.title.partition(":")[0]: r for kind in ("fill", "full", "over") for r in read.of(kind)}
    for rack in hall(found).racks:
        gauge = gauges[rack.name]
        if rack.power_w:
            bar, share = bars[rack.name], rack.power_w / limit
            assert bar.bottom == gauge.bottom
            assert (bar.bottom - bar.y) / (gauge.bottom - gauge.y) == pytest.approx(share, abs=0.002)
            assert ("full" in bar.kind) == (share > 0.9)
        else:
            assert rack.name not in bars


def test_power_that_nobody_published_is_said(designed, Read):
    found = designed(count=4, manager="ufm")
    unknown = {thing.name for rack in hall(found).racks for thing in rack.contents if thing.power_w is None}
    read = Read(draw_racks(found, "hall"))
    assert unknown == {r.title.partition(":")[0] for kind in ("gpu", "host", "leaf", "spine") for r in read.of(kind) if "not published" in r.title} != set()
    assert "not known" in {words.text for words in read.words}


def counts(read):
    """(racks, things) that the drawing tells: racks one by one, and those of strips."""
    strips = [m for r in read.rects if (m := re.match(r"Rows? [\d–]+(?: \(rest\))?: ([\d,]+) racks? \S+, ([\d,]+) device", r.title))]
    things = Counter()
    for r in read.rects:
        if {"gpu", "host", "leaf", "spine", "core"} & set(r.kind) and "key" not in r.kind and "rack" not in r.title.partition(":")[2]:
            m = re.search(r": ([\d,]+) × ", r.title)
            things["full"] += int(m[1].replace(",", "")) if m else 1
    return len(read.of("rack")) + sum(int(m[1].replace(",", "")) for m in strips), things["full"] + sum(int(m[2].replace(",", "")) for m in strips)


@given(count=st.integers(1, 3000), power=st.sampled_from(["12kW", "42kW", "130kW"]), units=st.sampled_from([24, 48]), row=st.sampled_from([2, 8, 20, 100, 1000]), manager=st.sampled_from(["", "ufm"]))
@settings(max_examples=40, deadline=None)
def test_every_rack_and_every_thing_is_counted(designed, Read, sound, count, power, units, row, manager):
    found = designed(count=count, manager=manager, site={"rack": {"power": power, "units": units, "row_length": row}})
    if found is None:
        return
    text = draw_racks(found, "hall")
    assert len(text.encode()) < LARGEST
    read = Read(text)
    sound(read)
    assert counts(read) == (len(hall(found).racks), sum(len(rack.contents) for rack in hall(found).racks))


def test_a_hall_of_12288_machines(designed, Read, sound):
    found = designed(count=12288, system="hgx-h100", technology="roce", switch="sn5600")
    draw_racks(designed(count=4), "hall")
    before = time.process_time()
    text = draw_racks(found, "hall")
    assert time.process_time() - before < 1
    assert len(text.encode()) < LARGEST
    read = Read(text)
    sound(read)
    assert counts(read) == (len(hall(found).racks), sum(len(rack.contents) for rack in hall(found).racks))


def test_racks_of_machines_that_are_only_planned(Read, sound):
    """Two of 256 machines stand: racks between the leaves to come are laid out, whole rows of them empty."""
    text = (Path(__file__).parents[2] / "blueprints/lab.yaml").read_text()
    assert text.count("system: hgx-h100, count: 2") == 1
    found = run(text.replace("system: hgx-h100, count: 2", "system: hgx-h100, count: 2, grow_to: 256"), "lab.yaml").design
    (site,) = found.facilities
    empty, full = ({rack.row for rack in found.facilities[site].racks if bool(rack.contents) is filled} for filled in (False, True))
    assert empty - full
    sound(Read(draw_racks(found, site)))
