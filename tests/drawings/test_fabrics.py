"""Drawings of fabrics: each number in them is one of the wiring's, at every size; nothing lies on or beside what it should not."""

import re
import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iacgen.drawings import draw_fabric, draw_rail
from iacgen.drawings.levels import plan_of
from iacgen.drawings.view import rail, whole

LARGEST = 300_000  # bytes
SMALL = {"rails": {"manager": "ufm"}, "two units": {"unit": 4}, "plain": {"topology": "fat-tree"}, "rail-only": {"topology": "rail-only"}, "three tiers": {"unit": 2, "tiers": 3, "pod": 2}}
LARGE = {
    "127": {"count": 127, "manager": "ufm"},
    "2,048": {"count": 2047, "manager": "ufm"},
    "12,288": {"count": 12288, "technology": "roce", "system": "hgx-h100", "switch": "sn5600"},
    "oversubscribed": {"count": 200, "topology": "fat-tree", "oversubscription": 2.0},
    "rail groups": {"count": 255, "rail_groups": True},
    "planes": {"count": 600, "technology": "roce", "system": "hgx-h100", "switch": "sn5600", "planes": 2},
    "leaves alone": {"count": 60, "topology": "fat-tree"},
    "dragonfly": {"count": 2000, "topology": "dragonfly"},
    "dragonfly+": {"count": 600, "topology": "dragonfly-plus", "manager": "opensm"},
}


@pytest.fixture
def fabric(designed):
    def make(**wanted):
        return designed(**wanted).fabrics["compute"]

    return make


def pairs(fabric):
    """(device, device) → links, out of the wiring by name."""
    return Counter((c.a, c.b) for c in fabric.wiring())


def told(read):
    """The same out of the titles of lines."""
    return {tuple(m[1].split(" to ")): int(m[2].replace(",", "")) for line in read.lines if (m := re.match(r"(.*?): ([\d,]+) link", line.title))}


@pytest.mark.parametrize("wanted", SMALL.values(), ids=SMALL)
def test_a_small_drawing_names_every_device_and_counts_every_pair(fabric, Read, sound, wanted):
    made = fabric(count=8, **wanted)
    read = Read(draw_fabric(made))
    sound(read)
    boxes = {r.title.partition(":")[0] for kind in ("host", "leaf", "spine", "core", "manager") for r in read.of(kind)}
    managers = made.manager.hosts if made.manager else ()
    assert boxes == {*made.hosts, *made.switch_names, *managers}
    assert told(read) == pairs(made)
    shown = {words.text for words in read.words}
    assert {name.rpartition("-")[2] for name in made.switch_names} | set(made.hosts) <= shown


def test_a_line_tells_its_ports(fabric, Read):
    made = fabric(count=8, manager="ufm")
    ports = {(c.a, c.b): [] for c in made.wiring() if c.joins == "leaf-spine"}
    for c in made.wiring():
        if c.joins == "leaf-spine":
            ports[c.a, c.b].append((int(c.a_port), int(c.b_port)))
    for line in Read(draw_fabric(made)).lines:
        if m := re.match(r"(\S+leaf\d+) to (\S+): .* ports (\d+)-(\d+) to (\d+)-(\d+)$", line.title):
            mine = ports.pop((m[1], m[2]))
            assert [min(p for p, _ in mine), max(p for p, _ in mine), min(p for _, p in mine), max(p for _, p in mine)] == [int(x) for x in m.groups()[2:]]
    assert not ports


@pytest.mark.parametrize("wanted", LARGE.values(), ids=LARGE)
def test_a_large_drawing_counts_all_and_stays_small(fabric, Read, sound, wanted):
    made = fabric(**wanted)
    text = draw_fabric(made)
    assert len(text.encode()) < LARGEST
    read = Read(text)
    sound(read)
    if read.discs:
        return
    for tier in made.tiers:
        assert read.counted(tier.kind, f"{tier.kind} switch") == len(tier.names)
    assert read.counted("host", "host") == len(made.hosts)
    assert read.links() == sum(1 for _ in made.wiring())


@pytest.mark.parametrize("draw", [draw_fabric, draw_rail])
def test_a_drawing_of_12288_nodes_takes_less_than_a_second(fabric, draw):
    draw(fabric(count=8))  # the templates are read once
    made = fabric(**LARGE["12,288"])
    before = time.process_time()
    draw(made)
    assert time.process_time() - before < 1


sizes = st.fixed_dictionaries(
    {
        "count": st.integers(1, 700),
        "unit": st.sampled_from([None, 4, 8, 20, 32]),
        "topology": st.sampled_from(["rail-fat-tree", "fat-tree", "rail-only"]),
        "manager": st.sampled_from(["", "ufm", "opensm"]),
        "tiers": st.sampled_from([None, 3]),
        "oversubscription": st.sampled_from([1.0, 2.0]),
        "rail_groups": st.booleans(),
        "numbering": st.sampled_from(["by-unit", "round-robin"]),
        "grow_to": st.sampled_from([None, 800]),
        "planes": st.sampled_from([1, 1, 2]),
    }
)


def possible(designed, wanted):
    """The fabric that is wanted, or None."""
    if wanted["topology"] != "rail-fat-tree":
        wanted = wanted | {"unit": None, "rail_groups": False}
    if wanted["planes"] > 1:
        wanted = wanted | {"technology": "roce", "system": "hgx-h100", "switch": "sn5600", "manager": ""}
    found = designed(**wanted)
    return found and found.fabrics["compute"]


@given(wanted=sizes)
@settings(max_examples=60, deadline=None)
def test_every_tree_is_drawn_soundly_and_counted_in_full(designed, Read, sound, wanted):
    made = possible(designed, wanted)
    if made is None:
        return
    text = draw_fabric(made)
    read = Read(text)
    sound(read)
    assert len(text.encode()) < LARGEST
    assert read.counted("host", "host") == len(made.hosts)
    assert [read.counted(t.kind, f"{t.kind} switch") for t in made.tiers] == [len(t.names) for t in made.tiers]
    assert read.links() == sum(1 for _ in made.wiring())


@given(wanted=sizes)
@settings(max_examples=40, deadline=None)
def test_every_bundle_is_as_thick_as_the_wiring(designed, wanted):
    """Counted by name, one cable after another, against the arrays that the drawing counts with."""
    made = possible(designed, wanted)
    if made is None:
        return
    views = [whole(made), *([rail(made, 0)] if made.by_rail else [])]
    for shown in map(plan_of, views):
        name_of = {"host": made.hosts, "manager": made.manager.hosts if made.manager else ()}
        lot_of = {(lot.kind == "manager", name_of.get(lot.kind, made.switch_names)[m]): i for i, lot in enumerate(shown.lots) for m in lot.members}
        ends = ((lot_of.get((c.joins == "manager-leaf", c.a)), lot_of.get((False, c.b))) for c in made.wiring())
        assert Counter(pair for pair in ends if None not in pair) == {(b.a, b.b): b.links for b in shown.bundles}


groups = st.fixed_dictionaries({"count": st.integers(1, 400), "topology": st.sampled_from(["dragonfly", "dragonfly-plus"]), "manager": st.sampled_from(["", "opensm"]), "group": st.sampled_from([None, (8, 4, 4), (16, 8, 2), (16, 2, 16)])})


@given(wanted=groups)
@settings(max_examples=40, deadline=None)
def test_every_dragonfly_has_all_its_groups_and_links_on_the_circle(designed, Read, sound, wanted):
    if wanted["group"]:
        hosts, leaves, links = wanted["group"]
        plus = {"spines": leaves} if wanted["topology"] == "dragonfly-plus" else {}
        wanted = wanted | {"group": {"hosts": hosts, "leaves": leaves, "links": links} | plus}
    found = designed(**wanted)
    if found is None or not found.fabrics["compute"].pods:
        return
    made = found.fabrics["compute"]
    read = Read(draw_fabric(made))
    sound(read)

    def sum_of(noun):
        return sum(int(m[1].replace(",", "")) for disc in read.discs if (m := re.search(rf"([\d,]+) {noun}", disc.title)))

    assert (sum_of("leaf switch"), sum_of("spine switch"), sum_of("host")) == (len(made.leaves), len(made.spines), len(made.hosts))
    between = Counter()
    pod_of = {leaf: pod.name for pod in made.pods for g in pod.groups for leaf in made.groups[g].leaves} | {s: s.rpartition("-")[0] for s in made.spines}
    for c in made.wiring():
        if c.joins == "group-group":
            between[tuple(sorted((pod_of[c.a], pod_of[c.b])))] += 1
    drawn = Counter()
    for line in read.lines:
        if m := re.match(r"(g\d+) to (g\d+): ([\d,]+) link", line.title):
            drawn[tuple(sorted((f"compute-{m[1]}", f"compute-{m[2]}")))] += int(m[3].replace(",", ""))
    assert drawn == between


@pytest.mark.parametrize("wanted", [{"count": 127, "manager": "ufm"}, {"count": 2047, "manager": "ufm"}, {"count": 40, "unit": 8, "tiers": 3, "pod": 2}, {"count": 8}, {"count": 200, "rail_groups": True, "tiers": 2}])
def test_a_rail_shows_its_leaves_alone_and_a_way_that_exists(fabric, Read, sound, wanted):
    made = fabric(**wanted)
    read = Read(draw_rail(made, 2))
    sound(read)
    assert read.counted("leaf", "leaf switch") == len(made.groups)
    single = {r.title.partition(":")[0] for r in read.of("leaf") if ": 1 leaf" in r.title}
    assert single and all(name.endswith("-leaf3") for name in single)
    (told_way,) = re.findall(r"(gpu\d+) to (gpu\d+): \d+ switch(?:es)? \(([^)]*)\)", read.root.find("{http://www.w3.org/2000/svg}desc").text)
    stops = [told_way[0], *(f"compute-{name}" for name in told_way[2].split(", ")), told_way[1]]
    joined = {frozenset(pair) for pair in pairs(made)}
    assert all(frozenset(step) in joined for step in zip(stops, stops[1:]))
    assert sum("way" in line.kind for line in read.lines) == len(stops) - 1


def test_rails_apart_have_no_way(fabric):
    assert "rail 8" in draw_rail(fabric(count=8), 7)
    for number in (8, -1):
        with pytest.raises(ValueError, match="no rail"):
            draw_rail(fabric(count=8), number)
    with pytest.raises(ValueError, match="no rail"):
        draw_rail(fabric(count=8, topology="fat-tree"))


@pytest.mark.parametrize("wanted", [{"count": 127, "manager": "ufm"}, {"count": 72, "topology": "dragonfly", "group": {"hosts": 8, "leaves": 8, "links": 1}}])
def test_the_same_fabric_gives_the_same_bytes(fabric, wanted):
    assert draw_fabric(fabric(**wanted)) == draw_fabric(fabric(**wanted))
