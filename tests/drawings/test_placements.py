"""Ranks of a job as a drawing: every host once, in the hue of its stage and the shade of its replica, whatever the size."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from iacgen.drawings import Leaf, Pod, Seat, draw_placement
from iacgen.drawings.placements import FEW

CSS = "".join((Path(__file__).parents[2] / f"templates/drawings/{name}.css").read_text(encoding="utf-8") for name in ("style", "areas"))
AREAS = (Path(__file__).parents[2] / "templates/drawings/areas.css").read_text(encoding="utf-8")
STYLE = (Path(__file__).parents[2] / "templates/drawings/style.css").read_text(encoding="utf-8")
DARK = "@media (prefers-color-scheme: dark)"


def cluster(pods=2, leaves=3, hosts=8, stages=4, idle=("spare", "down", "left over"), names=True):
    """Pods whose hosts hold stages in turn, but for the last ones."""
    count = pods * leaves * hosts
    seats = []
    for n in range(count):
        why = idle[n - count + len(idle)] if n >= count - len(idle) else ""
        host = f"gpu{n + 1:05d}"
        seats.append(Seat(host, f"{host}: {why}", why=why) if why else Seat(host, f"{host}: stage {n % stages + 1}", n % stages, n // stages))
    at = iter(seats)
    return [Pod(f"pod{p + 1}" if names else "", tuple(Leaf(f"leaf{p + 1}-{k + 1}", tuple(next(at) for _ in range(hosts))) for k in range(leaves))) for p in range(pods)], seats


def drawn(pods, seats, stages=4):
    return draw_placement("job on compute", "figures · more", pods, stages, 1 + max(seat.replica or 0 for seat in seats))


def squares(text):
    """(kind, title, corners) of each area but bars of replicas and crosses."""
    out = []
    for path in ElementTree.fromstring(text.encode()).iter("{http://www.w3.org/2000/svg}path"):
        kind = path.attrib["class"].split()[1:]
        if not kind[0].startswith(("shade", "cross")):
            out.append((kind, path[0].text, re.findall(r"M([\d.]+) ([\d.]+)h", path.attrib["d"])))
    return out


@pytest.mark.parametrize("size", [{}, {"names": False}, {"pods": 9, "leaves": 12, "hosts": 31, "stages": 16}, {"pods": 1, "leaves": 1, "hosts": 4, "stages": 1}])
def test_every_host_is_one_square_in_the_hue_of_its_stage(size, Read, sound):
    pods, seats = cluster(**size)
    stages = size.get("stages", 4)
    text = drawn(pods, seats, stages)
    read = Read(text)
    sound(read)
    found = squares(text)
    corners = [corner for _, _, some in found for corner in some]
    assert len(corners) == len(set(corners)) == len(seats)
    counts = {}
    for kind, _, some in found:
        counts[" ".join(kind)] = counts.get(" ".join(kind), 0) + len(some)
    for stage in range(stages):
        assert counts[f"hue{stage % 8 + 1}" + (" pale" if stage >= 8 else "")] == sum(seat.stage == stage for seat in seats)
    assert counts["idle standby"] == 1 and counts["idle"] == 2


def test_a_few_hosts_have_a_title_and_the_number_of_their_replica_each(Read):
    pods, seats = cluster()
    text = drawn(pods, seats)
    assert sorted(title for _, title, _ in squares(text)) == sorted(seat.title for seat in seats)
    numbers = [words.text for words in Read(text).words if "on-hue" in words.kind]
    assert sorted(numbers) == sorted(str(seat.replica + 1) for seat in seats if seat.replica is not None)


def test_many_hosts_share_the_title_of_their_leaf_and_stage():
    pods, seats = cluster(pods=9, leaves=12, hosts=31, stages=16)
    assert len(seats) > FEW
    titles = [title for kind, title, _ in squares(drawn(pods, seats, 16)) if "idle" not in kind]
    told = [re.fullmatch(r"leaf\d+-\d+: (\d+) hosts? of stage (\d+), replicas ([\d, –]+): gpu\d+(?: … gpu\d+)?", title) for title in titles if "hosts" in title]
    assert told and all(told)
    alone = [title for title in titles if "hosts" not in title]
    assert sum(int(m[1]) for m in told) + len(alone) == sum(seat.stage is not None for seat in seats)


def test_a_host_that_is_down_is_crossed_out_and_the_legend_says_so(Read):
    pods, seats = cluster()
    text = drawn(pods, seats)
    crosses = [line for line in Read(text).lines if "cross" in line.kind]
    assert [line.title for line in crosses] == [seat.title for seat in seats if seat.why == "down"]
    words = {w.text for w in Read(text).words}
    assert {"stage 1", "stage 4", "spare", "left over", "crossed out: down", "pod1", "leaf2-3"} <= words


def test_more_stages_than_colours_share_them(Read):
    pods, seats = cluster(pods=2, leaves=4, hosts=16, stages=40, idle=())
    words = {w.text for w in Read(drawn(pods, seats, 40)).words}
    assert {"stages 1–3", "stages 4–6", "stage 40"} <= words


def test_the_largest_cluster_stays_below_two_megabytes(Read):
    pods, seats = cluster(pods=34, leaves=12, hosts=32, stages=16, idle=("down",) * 64 + ("spare",) * 64 + ("not needed",) * 640)
    text = drawn(pods, seats, 16)
    assert len(seats) == 13056 and len(text.encode()) < 2_000_000
    assert all(len(titles) == 1 and titles[0] for titles in Read(text).titles)


def test_every_class_has_a_style_by_day_and_by_night():
    text = drawn(*cluster(pods=9, leaves=12, hosts=31, stages=16), stages=16) + drawn(*cluster())
    used = {word for words in re.findall(r'class="([^"]+)"', text) for word in words.split()}
    assert used - set(re.findall(r"\.([a-z][\w-]*)", CSS)) - {"frames", "lines", "boxes", "words", "areas"} <= {"key", "start"}
    light, dark = AREAS.split(DARK)
    named = [set(re.findall(r"((?:path|rect)?(?:\.[\w-]+)+(?::hover)?)[^{}]*\{[^}]*(?:fill|stroke): #", part)) for part in (light, dark)]
    assert named[0] == named[1] != set()


def contrast(one, two):
    """Contrast ratio of WCAG 2.1, success criterion 1.4.3."""

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        return sum(w * (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4) for w, c in zip((0.2126, 0.7152, 0.0722), parts, strict=True))

    high, low = sorted((luminance(one), luminance(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("part", [0, 1], ids=["light", "dark"])
def test_numbers_stand_out_from_their_squares_and_bars_from_their_ground(part):
    css, style = AREAS.split(DARK)[part], STYLE.split(DARK)[part]

    def fill(selector, text=css):
        return re.search(rf"(?<![\w.-]){re.escape(selector)}(?:, [\w.]+)* \{{ (?:[^}}]*; )?fill: (#[0-9a-f]{{6}})", text)[1]

    for n in range(1, 9):
        assert contrast(fill(".on-hue"), fill(f"path.hue{n}")) >= 4.5, n
        assert contrast(fill(".on-pale"), fill(f"path.hue{n}.pale")) >= 4.5, n
        assert contrast(fill(f"path.hue{n}"), fill(".inner", style)) >= 2, n
    for n in range(1, 6):
        assert contrast(fill(f".shade{n}"), fill(f".shade{n + 1}")) >= 1.2, n


def test_what_is_drawn_can_be_any_text():
    bait = "<b>&amp;\"' ]]>"
    text = draw_placement(bait, bait, [Pod(bait, (Leaf(bait, (Seat(bait, bait, 0, 0),)),))], 1, 1)
    root = ElementTree.fromstring(text.encode())
    assert root[0].text == bait and any(title.text == bait for title in root.iter("{http://www.w3.org/2000/svg}title"))
