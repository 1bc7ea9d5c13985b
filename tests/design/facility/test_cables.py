"""Lengths by hand, media by published reach, and orders that count cages."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from iacgen import catalog
from iacgen.blueprint import parse
from iacgen.design import design
from iacgen.design.facility import Facility, Floor, Limits, Rack, Standing
from iacgen.design.facility.cables import ALWAYS_M, NO_CABLE, assign, at_most, needs, parts, runs
from iacgen.design.facility.choice import BEYOND, sold
from iacgen.design.facility.lengths import lengths, places
from iacgen.design.fabric.model import Links
from iacgen.pipeline import run

ROOT = Path(__file__).parents[3]


def hall(*racks: tuple[int, int, dict[str, int]], units: int = 48) -> Facility:
    """Racks as (row, place, name → unit) of things of one unit; 0.6 m from rack to rack, 2.4 m from row to row."""
    built = tuple(Rack(f"r{i}", row, place, tuple(Standing(name, unit, 1, None, None, "") for name, unit in things.items())) for i, (row, place, things) in enumerate(racks))
    return Facility("hall", built, Limits(units, 1, 1), Floor(), 0, None, None, ())


def metres(facility: Facility, a: str, b: str) -> float:
    return float(lengths(places(facility, [a]), places(facility, [b]))[0])


UNIT = 0.04445


@pytest.mark.parametrize(
    ("a", "b", "length"),
    [
        ("a1", "a48", 47 * UNIT + 1),  # in one rack: straight up, half a metre at each end
        ("a48", "b48", 2 * (UNIT / 2 + 0.5) + 0.6 + 1),  # next to each other: up to the trays and down again
        ("a48", "c48", 2 * (UNIT / 2 + 0.5) + 3 * 0.6 + 2 * 2.4 + 1),  # three places along, two rows across
        ("a1", "c48", (47.5 * UNIT + 0.5) + (0.5 * UNIT + 0.5) + 3 * 0.6 + 2 * 2.4 + 1),
    ],
)
def test_length_by_hand(a: str, b: str, length: float):
    facility = hall((1, 1, {"a1": 1, "a48": 48}), (1, 2, {"b48": 48}), (3, 4, {"c48": 48}))
    assert metres(facility, a, b) == pytest.approx(length) == pytest.approx(metres(facility, b, a))


@given(st.integers(1, 42), st.integers(1, 42), st.integers(3, 8))
def test_lengths_are_within_those_that_a_vendor_ships(u: int, v: int, away: int):
    """Oracle, multi-rack cabling of Exadata and SuperCluster M8: 3 m within a rack of 42 units, 10 m to the third rack and beyond."""
    facility = hall((1, 1, {"a": u}), (1, 1 + away, {"b": v}), units=42)
    assert metres(hall((1, 1, {"a": u, "b": v}), units=42), "a", "b") <= 3
    assert away > 5 or metres(facility, "a", "b") <= 10


@pytest.mark.parametrize("name", ["lab", "superpod-h100"])
def test_no_cable_is_longer_than_the_bound_that_looks_at_no_link(name: str):
    built = run((ROOT / f"blueprints/{name}.yaml").read_text(), name).design
    for fabric in built.fabrics.values():
        hall_ = built.facilities[fabric.site]
        assert 0 < max(needs(hall_, fabric)) <= at_most(hall_, fabric)


def test_what_stands_nowhere_has_no_length():
    assert np.isnan(metres(hall((1, 1, {"a": 1})), "a", "ghost"))


SUPERPOD = (ROOT / "blueprints/superpod-h100.yaml").read_text()
FABRICS = {system: run(SUPERPOD.replace("system: dgx-h100", f"system: {system}"), system).design.fabrics["compute"] for system in ("dgx-h100", "hgx-h100")}


def links(joins: str, gbps: int, n: int, parallel: int) -> Links:
    """n links in bundles of ``parallel`` between a pair of switches each (or of hosts, a port each, and one switch)."""
    i = np.arange(n)
    if joins == "host-leaf":
        return Links(joins, gbps, i, np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), i + 1)
    return Links(joins, gbps, np.zeros(n, dtype=np.int64), i + 33, 32 + i // parallel, i % parallel + 1)


@pytest.mark.parametrize(
    ("system", "joins", "parallel", "need", "medium", "length"),
    [
        ("hgx-h100", "host-leaf", 1, 1.2, "dac", 1.5),  # MCP7Y00: 1 to 3 m
        ("hgx-h100", "host-leaf", 1, 3.0, "dac", 3),
        ("hgx-h100", "host-leaf", 1, 3.01, "multimode", 5),  # active splitters are no longer sold
        ("hgx-h100", "host-leaf", 1, 50, "multimode", 50),
        ("hgx-h100", "host-leaf", 1, 50.01, "single-mode", 60),
        ("hgx-h100", "host-leaf", 1, 100, "single-mode", 100),
        ("dgx-h100", "host-leaf", 1, 1.2, "multimode", 3),  # a splitter's ends leave a port of each twin cage dark
        ("dgx-h100", "leaf-spine", 2, 1.9, "dac", 2),  # MCP4Y10: up to 2 m
        ("dgx-h100", "leaf-spine", 2, 2.01, "acc", 3),  # MCA4J80: 3, 4 and 5 m
        ("dgx-h100", "leaf-spine", 2, 4.2, "acc", 5),
        ("dgx-h100", "leaf-spine", 2, 5.01, "multimode", 7),
        ("dgx-h100", "leaf-spine", 2, 120, "single-mode", 120),  # 500 m
        ("dgx-h100", "leaf-spine", 2, 501, "single-mode", 510),  # 2 km
        ("dgx-h100", "leaf-spine", 1, 1.9, "multimode", 3),  # both links of a twin-port cable end in the same cages, or it is none
    ],
)
def test_the_medium_is_the_first_within_reach(system: str, joins: str, parallel: int, need: float, medium: str, length: float):
    (found,) = assign(FABRICS[system], [(links(joins, 400, 4, parallel), np.full(4, need))])
    assert {found.cables[i].medium for i in found.cable} == {medium}
    assert set(found.length_m) == {length}
    assert not (found.cable == BEYOND).any()


@pytest.mark.parametrize(("joins", "reach"), [("host-leaf", 100), ("leaf-spine", 2000)])
def test_beyond_the_last_reach_is_nothing(joins: str, reach: int):
    (found,) = assign(FABRICS["dgx-h100"], [(links(joins, 400, 2, 2), np.array([reach, reach + 0.01]))])
    assert list(np.flatnonzero(found.cable == BEYOND)) == [1]
    assert [(p.model, p.length_m, p.count) for p in parts([found])][-1] == (NO_CABLE, round(reach + 0.01, 1), 1)


@pytest.mark.parametrize(
    ("system", "joins", "needs", "media", "lengths", "cables"),
    [
        ("hgx-h100", "host-leaf", [1.1, 2.3], ["dac", "dac"], [2.5, 2.5], 1),  # one splitter, as long as its longer leg
        ("hgx-h100", "host-leaf", [1.1, 3.3], ["multimode", "multimode"], [3, 5], 2),  # one plug: the shorter link goes over fibre too
        ("hgx-h100", "host-leaf", [9, 70], ["single-mode", "single-mode"], [30, 70], 2),
        ("dgx-h100", "leaf-spine", [1.1, 1.6], ["dac", "dac"], [2, 2], 1),
        ("dgx-h100", "leaf-spine", [1.1, 7], ["multimode", "multimode"], [3, 7], 2),
        ("dgx-h100", "leaf-spine", [90, 110], ["single-mode", "single-mode"], [90, 110], 2),
    ],
)
def test_links_of_one_cage_take_what_the_longer_one_needs(system: str, joins: str, needs: list[float], media: list[str], lengths: list[float], cables: int):
    (found,) = assign(FABRICS[system], [(links(joins, 400, 2, 2), np.array(needs, dtype=float))])
    assert media == [found.cables[i].medium for i in found.cable]
    assert lengths == found.length_m.tolist()
    assert cables == sum(part.count for part in parts([found]) if part.what == "cable")
    transceivers = {"switch transceiver": 1 if joins == "host-leaf" else 2, "host transceiver": 2 if joins == "host-leaf" else 0} if cables > 1 else {}
    counts = {what: sum(part.count for part in parts([found]) if part.what == what) for what in ("switch transceiver", "host transceiver")}
    assert counts == {"switch transceiver": 0, "host transceiver": 0} | transceivers


@given(st.sampled_from(catalog.entries("cables")), st.floats(0.01, 1))
def test_what_is_sold_is_long_enough_and_reaches(cable, share: float):
    need = share * cable.longest_m
    (length,) = sold(cable, np.array([need]))
    assert need <= length + 1e-9 and length <= cable.reach_m
    assert length in cable.lengths_m or cable.step_m and length % cable.step_m == 0
    assert not any(need <= other < length for other in cable.lengths_m), "a shorter one is sold"


def test_up_to_this_length_no_link_needs_a_look():
    """Of all cables for one speed, technology and pair of cages the longest reaches so far at least."""
    longest: dict[tuple, float] = {}
    for cable in catalog.entries("cables"):
        for technology in cable.technologies:
            for far in [*cable.host_ends, *(["switch"] if "switch-switch" in cable.between else [])]:
                key = (cable.gbps, technology, cable.cage, far)
                longest[key] = max(longest.get(key, 0), cable.longest_m)
    assert min(longest.values()) == ALWAYS_M


def test_an_order_of_the_superpod_counts_cages():
    """32 leaves and 16 spines of 32 cages each, 1,024 links between them: 512 cages on either side. A unit of 32 nodes needs 16 cages on
    each of its 8 leaves, the last one of 31 as many: 512. Four twin-port transceivers in each of 127 nodes."""
    state = run(SUPERPOD, "superpod")
    order = [part for part in parts(runs(state.design.facilities["hall-a"], state.design.fabrics["compute"]))]
    count = {(p.joins, p.what): p.count for p in order if p.what != "cable"}
    assert {key: n for key, n in count.items() if key[0] != "manager-leaf"} == {
        ("host-leaf", "switch transceiver"): 512, ("host-leaf", "host transceiver"): 127 * 4, ("leaf-spine", "switch transceiver"): 1024,
    }  # fmt: skip
    cables = {joins: sum(p.count for p in order if p.joins == joins and p.what == "cable") for joins in ("host-leaf", "manager-leaf", "leaf-spine")}
    assert cables == {"host-leaf": 1016, "manager-leaf": 4, "leaf-spine": 1024}


def test_a_splitter_serves_two_ports_of_a_cage():
    """Two nodes of eight ports on one leaf: 16 links, 8 splitters of copper."""
    state = run((ROOT / "blueprints/lab.yaml").read_text(), "lab")
    (cable,) = parts(runs(state.design.facilities["lab-room"], state.design.fabrics["compute"]))
    assert (cable.model, cable.links, cable.count) == ("MCP7Y00-Nxxx", 16, 8)


HUGE = """
kind: Cluster
schema: 1
name: huge
sites:
  hall: {kind: on-prem, rack: {power: 50kW, units: 48, row_length: 96}}
nodes:
  gpu: {site: hall, system: hgx-h100, count: 12288, width: 5}
fabrics:
  compute: {site: hall, purpose: compute, connects: [gpu], technology: roce, topology: rail-fat-tree, switch: sn5600}
"""


def test_a_hall_of_98304_gpus_takes_seconds():
    """294,912 links. On two busy cores the design took 0.3 s of processor time, racks 0.1 s, lengths and media 0.3 s."""
    blueprint, findings = parse(yaml.safe_load(HUGE))
    assert blueprint, findings
    began = time.process_time()
    built, findings = design(blueprint)
    assert built, findings
    found = runs(built.facilities["hall"], built.fabrics["compute"])
    order = list(parts(found))
    assert time.process_time() - began < 10
    assert sum(len(one.links) for one in found) == 3 * 98_304
    assert sum(part.links for part in order if part.what == "cable") == 3 * 98_304
    assert not any((one.cable == BEYOND).any() for one in found)
