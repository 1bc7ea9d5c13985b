"""Racks: within every limit, every thing once, and nothing moves when a pool grows."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from iacgen.blueprint import parse
from iacgen.design import design
from iacgen.design.facility import Facility, Floor, Limits, Racked, TooLarge
from iacgen.design.facility.fill import Hall, Leaves, fill
from iacgen.design.facility.lanes import Lane, LeafRacks
from iacgen.pipeline import run

ROOT = Path(__file__).parents[3]
FLOOR = Floor()


def racked(kind: str, count: int, units: int = 8, power_w: int | None = 10_200, **more) -> Racked:
    return Racked(kind, tuple(f"{kind}{i + 1}" for i in range(count)), units, power_w, **more)


def sizes(limits: Limits, thing: Racked) -> list[int]:
    return [len(rack.contents) for rack in fill(Hall([thing], []), limits, FLOOR)]


@pytest.mark.parametrize(
    ("limits", "things"),
    [
        (Limits(48, 42_000, 42_000), 4),  # 42 kW for machines of 10.2 kW
        (Limits(48, 20_000, 20_000), 1),
        (Limits(48, 42_000, 31_000), 3),  # heat of three
        (Limits(24, 42_000, 42_000), 3),  # 24 units of 8
        (Limits(48, 42_000, 42_000, 300), 2),  # 130.45 kg each
        (Limits(48, 99_000, 99_000, 9_000), 6),
    ],
)
def test_the_tightest_limit_says_how_many_share_a_rack(limits: Limits, things: int):
    assert sizes(limits, racked("gpu", 12, weight_kg=130.45)) == [things] * (12 // things)


def test_a_machine_that_fits_no_rack_is_named():
    with pytest.raises(ValueError, match="^gpu$"):
        sizes(Limits(48, 10_000, 10_000), racked("gpu", 1))
    with pytest.raises(ValueError, match="^gpu$"):
        sizes(Limits(48, 42_000, 10_000), racked("gpu", 1))


@pytest.mark.parametrize(
    ("limits", "short"),
    [
        (Limits(48, 10_000, 10_000), "one needs 10.2 kW of power where a rack has 10 kW"),
        (Limits(48, 42_000, 9_000), "one needs 10.2 kW of cooling where a rack has 9 kW"),
        (Limits(6, 10_000, 9_000), "one needs 8 U of height where a rack has 6 U and 10.2 kW of power where a rack has 10 kW and 10.2 kW of cooling where a rack has 9 kW"),
    ],
)
def test_what_a_rack_lacks_is_told_in_figures(limits: Limits, short: str):
    """Of a DGX H100: 8 U and 10.2 kW."""
    with pytest.raises(TooLarge) as refused:
        sizes(limits, racked("gpu", 1))
    assert refused.value.figures == short


def test_too_heavy_a_machine_stands_alone():
    assert sizes(Limits(48, 42_000, 42_000, 100), racked("gpu", 2, weight_kg=130.45)) == [1, 1]


def test_machines_of_one_nvlink_domain_fill_a_rack_of_their_own():
    tray = racked("tray", 40, units=1, power_w=8_330, together=18)
    assert sizes(Limits(48, 160_000, 160_000), tray) == [18, 18, 4]
    with pytest.raises(ValueError, match="^tray$"):
        sizes(Limits(48, 100_000, 100_000), tray)  # 18 x 8.33 kW = 150 kW


def test_a_superpod_takes_32_racks_of_four_and_leaves_stand_in_the_row_of_their_units():
    """127 DGX H100 at 42 kW a rack: 4 x 10.2 kW; 24 leaves of 1.72 kW fit a rack, so two units of eight share one."""
    state = run((ROOT / "blueprints/superpod-h100.yaml").read_text(), "superpod")
    hall = state.design.facilities["hall-a"]
    names = [rack.name for rack in hall.racks]
    assert sum(name.startswith("gpu-r") for name in names) == 32
    assert [name for name in names if name.startswith("compute-leaf")] == ["compute-leaf-r1", "compute-leaf-r2"]
    for unit, leaf in ((1, "compute-su1-leaf8"), (32, "compute-su2-leaf1"), (65, "compute-su3-leaf1"), (127, "compute-su4-leaf8")):
        assert hall.place_of[f"gpu{unit:04d}"][0].row == hall.place_of[leaf][0].row


def test_a_small_cluster_has_its_switches_on_top_of_its_machines():
    state = run((ROOT / "blueprints/lab.yaml").read_text(), "lab")
    hall = state.design.facilities["lab-room"]
    rack, leaf = hall.place_of["compute-leaf1"]
    assert (rack.name, leaf.unit, leaf.units) == ("gpu-r1", 47, 2)  # the two topmost of 48 units


LIMITS = st.builds(Limits, st.integers(24, 60), st.integers(11_000, 200_000), st.integers(11_000, 200_000), st.none() | st.floats(150, 3_000))
FLOORS = st.builds(lambda length, share: Floor(length, max(1, length // share)), st.integers(2, 40), st.integers(2, 10))


@st.composite
def pools(draw, kind: str):
    count = draw(st.integers(1, 60))
    return racked(kind, count, draw(st.integers(1, 10)), draw(st.none() | st.integers(300, 11_000)), weight_kg=draw(st.none() | st.floats(5, 149)), planned=count + draw(st.integers(0, 40)))


@st.composite
def halls(draw):
    rows, others = [draw(pools(f"gpu-{i}")) for i in range(draw(st.integers(0, 2)))], [draw(pools(f"cpu-{i}")) for i in range(draw(st.integers(0, 3)))]
    leaves = []
    for f in range(draw(st.integers(0, 3)) if rows + others else 0):
        pool, hosts, size = draw(st.sampled_from(rows + others)), draw(st.integers(1, 40)), draw(st.integers(1, 8))
        groups = -(-len(pool.names) // hosts) + draw(st.integers(0, 2))
        names = tuple(tuple(f"f{f}-su{g}-leaf{i}" for i in range(size)) for g in range(groups))
        figures = (draw(st.integers(1, 4)), draw(st.none() | st.integers(90, 3_000)), draw(st.none() | st.floats(5, 60)))
        leaves.append(Leaves(f"f{f}", names, pool.kind, None if groups == 1 and draw(st.booleans()) else hosts, groups + draw(st.integers(0, 9)), *figures))
    upper = [racked(f"f{i}-spine", draw(st.integers(0, 20)), 1, draw(st.none() | st.integers(90, 3_000))) for i in range(len(leaves))]
    return Hall(rows, others, leaves, upper)


@given(halls(), LIMITS, FLOORS)
@settings(max_examples=200, deadline=None)
def test_nothing_overlaps_and_no_limit_is_passed(hall: Hall, limits: Limits, floor: Floor):
    racks = fill(hall, limits, floor)
    wanted = [name for kind in (*hall.rows, *hall.others, *hall.upper) for name in kind.names] + [n for one in hall.leaves for group in one.groups for n in group]
    assert sorted(thing.name for rack in racks for thing in rack.contents) == sorted(wanted), "every thing once"
    assert len({rack.name for rack in racks}) == len(racks)
    assert len({(rack.row, rack.place) for rack in racks}) == len(racks), "two racks at one place"
    for rack in racks:
        filled = [unit for thing in rack.contents for unit in range(thing.unit, thing.unit + thing.units)]
        assert len(set(filled)) == len(filled), "two things in one unit"
        assert all(1 <= unit <= limits.units for unit in filled)
        assert [thing.unit for thing in rack.contents] == sorted(thing.unit for thing in rack.contents)
        assert rack.power_w <= min(limits.power_w, limits.cooling_w)
        assert limits.weight_kg is None or rack.weight_kg <= limits.weight_kg + 1e-9
        assert 1 <= rack.place <= floor.row_length and rack.row >= 1


@given(st.integers(1, 12), st.lists(st.tuples(st.none() | st.integers(1, 60), st.integers(1, 3)), max_size=3), st.integers(1, 300))
def test_a_lane_uses_every_place_at_most_once(fit: int, leaves: list, hosts: int):
    batches = [1 if every is None else -(-hosts // every) for every, _ in leaves]
    lane = Lane(fit, hosts, tuple(LeafRacks(1, every, racks, n * racks) for (every, racks), n in zip(leaves, batches, strict=True)))
    taken = [lane.host(i) for i in range(lane.racks)] + [lane.leaf(w, n) for w, one in enumerate(lane.leaves) for n in range(one.count)]
    assert len(set(taken)) == len(taken)
    assert max(taken) < lane.length


GROWING = """
kind: Cluster
schema: 1
name: growing
sites:
  hall: {{kind: on-prem, rack: {{power: {power}kW, units: 48, row_length: {row}}}}}
nodes:
  gpu: {{site: hall, system: dgx-h100, count: {count}{grow}}}
  gpv: {{site: hall, system: dgx-h200, count: 5}}
  ctl: {{site: hall, system: generic-1u, count: 3}}
fabrics:
  compute: {{site: hall, purpose: compute, connects: [gpu], technology: infiniband, topology: rail-fat-tree, switch: qm9700, unit: {unit}}}
  mgmt: {{site: hall, purpose: management, connects: [{order}], technology: ethernet, switch: sn2201, spine: sn4600c}}
"""


def placed(**figures) -> dict[str, tuple]:
    text = GROWING.format(**figures)
    blueprint, findings = parse(yaml.safe_load(text))
    assert blueprint, findings
    built, findings = design(blueprint)
    assert built, findings
    hall: Facility = built.facilities["hall"]
    return {name: (rack.name, rack.row, rack.place, thing.unit) for name, (rack, thing) in hall.place_of.items()}


@given(st.integers(1, 180), st.integers(0, 90), st.integers(0, 60), st.sampled_from([11, 22, 42, 90]), st.sampled_from([2, 7, 20]), st.sampled_from([8, 31, 32]), st.sampled_from(["gpu, gpv, ctl", "ctl, gpu, gpv"]))
@settings(max_examples=60, deadline=None)
def test_growing_to_the_planned_size_moves_nothing(count: int, more: int, spare: int, power: int, row: int, unit: int, order: str):
    figures = {"power": power, "row": row, "unit": unit, "order": order, "grow": f", grow_to: {count + more + spare}"}
    before, after = placed(count=count, **figures), placed(count=count + more, **figures)
    assert {name: after.get(name) for name in before} == before


@given(st.integers(1, 180), st.integers(1, 90), st.sampled_from([11, 42, 90]), st.sampled_from([7, 20]), st.sampled_from([8, 32]))
@settings(max_examples=40, deadline=None)
def test_growing_without_a_plan_renames_no_rack_and_moves_no_machine_in_it(count: int, more: int, power: int, row: int, unit: int):
    """Of what stands along the growing pool; the last pool of the rows also keeps its place on the floor."""
    figures = {"power": power, "row": row, "unit": unit, "order": "gpu, gpv, ctl", "grow": ""}
    before, after = placed(count=count, **figures), placed(count=count + more, **figures)
    own = [name for name in before if name.startswith("gpu") or name.startswith("compute-su")]
    assert {name: after[name] for name in own} == {name: before[name] for name in own}
