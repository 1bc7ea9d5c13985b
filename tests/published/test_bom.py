"""Bills of materials and cable lists as they were published, field by field. What differs stands in a table with the reason.

IACGEN_CASES names a folder with further rows in the same form; a row without a table here must agree in every field.
"""

import csv
import io
import json
import os
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from iacgen.design.fabric.sizing import PodSize
from iacgen.design.fabric.tree import Tree
from iacgen.design.facility import Facility, Floor, Limits, Rack, Standing
from iacgen.design.facility.cables import parts, runs
from iacgen.design.facility.lengths import lengths, places
from iacgen.pipeline import run
from iacgen.placement.project import Project
from iacgen.targets import fabric
from iacgen.targets.fabric.wired import label

FOLDER = Path(os.environ.get("IACGEN_CASES") or Path(__file__).parents[1] / "cases")
ALL = json.loads((FOLDER / "published_fabrics.json").read_text())["cases"]
BILLS = [c for c in ALL if c["kind"] == "bom"]
LISTS = [c for c in ALL if c["kind"] == "cable_list"]

# Blueprints of the rows' designs. Where the row names a switch model that the designer would choose itself, nobody names it here.
BASEPOD = """kind: Cluster
schema: 1
name: basepod
sites: {hall: {kind: on-prem}}
nodes:
  gpu: {site: hall, system: dgx-h100, count: %(nodes)d}
  mgmt: {site: hall, system: generic-1u, count: %(management_nodes)d}
fabrics:
  compute: {site: hall, purpose: compute, connects: [gpu], technology: infiniband, manager: {kind: opensm, pool: gpu}}
  front: {site: hall, purpose: in-band, connects: [gpu, mgmt], technology: ethernet, switch: sn4600c}
  oob: {site: hall, purpose: out-of-band, connects: [gpu, mgmt], technology: ethernet}
"""
SUPERPOD = """kind: Cluster
schema: 1
name: superpod
sites: {hall: {kind: on-prem}}
nodes:
  gpu: {site: hall, system: dgx-b200, count: %(nodes)d}
  oss: {site: hall, system: lustre-oss, count: 8}
  mds: {site: hall, system: lustre-mds, count: 2}
  mgmt: {site: hall, system: generic-1u, count: %(management_nodes)d}
  ufm-compute: {site: hall, system: generic-1u-ndr, count: 3}
  ufm-storage: {site: hall, system: generic-1u-ndr, count: 3}
fabrics:
  compute: {site: hall, purpose: compute, connects: [gpu], technology: infiniband, topology: rail-fat-tree, unit: 32, manager: {kind: ufm, pool: ufm-compute}}
  storage: {site: hall, purpose: storage, connects: [gpu, oss, mds], technology: infiniband, manager: {kind: ufm, pool: ufm-storage}}
  front: {site: hall, purpose: in-band, connects: [gpu, oss, mds, mgmt], technology: ethernet}
  oob: {site: hall, purpose: out-of-band, connects: [gpu, oss, mds, mgmt], technology: ethernet}
"""
# Field of a row that says what there is, and is not found: the blueprint above is told it.
GIVEN = {"management_nodes"}
# Row and field → (what comes out here, why).
DIFFERENT = {
    "basepod-4n": {
        "qm9700": (1, "32 ports fit on one switch; the pod has two, joined back to back, so that one may fail"),
        "twin_port_dac_inter_switch": (0, "with one switch there is nothing to join"),
        "sn4600c": (1, "18 ports fit on one switch; the pod has two, so that one may fail"),
        "aoc_100g_dgx": (0, "copper of 5 m reaches from the machines to a switch in the rack beside them"),
        "cat6": (11, "the consoles of nine machines and the management ports of two switches; the row does not say what its other ends are"),
        "fibres_printed": (32, "printed a cage; a link is a fibre, as the row's own fibre_links says"),
    },
    "b200-4su-other-fabrics": {
        "storage_ib.leaf": (9, "278 ports of 137 machines and UFM at 1:1, 32 a leaf; the table is laid out for storage of the customer's choice"),
        "storage_ib.spine": (8, "the smallest divisor s of 32 uplinks for which 9 leaves with 32/s links each fit 64 ports"),
        "in_band_ethernet.leaf": (5, "288 ports at 1:1, 64 a leaf at 400G; the row does not tell the speed and the ratio of its own"),
        "in_band_ethernet.spine": (4, "the smallest divisor s of 64 uplinks for which 5 leaves with 64/s links each fit 128 ports"),
        "in_band_ethernet.sn2201": (0, "every machine is reached in-band over its fast ports"),
        "out_of_band.sn2201": (5, "a port for each of 144 machines and 74 switches, 48 a leaf; the table has one switch a rack"),
    },
}  # fmt: skip


def rows(tree, path):
    return list(csv.DictReader(io.StringIO(tree[path], newline="")))


def designed(case):
    """Figures of the row as they come out here, every one read off the design or off its files."""
    inputs, basepod = case["inputs"], "gpus_per_node" in case["inputs"]
    nodes = inputs["nodes"] if basepod else inputs["scalable_units"] * 32 - 1  # UFM takes the place of one
    state = run((BASEPOD if basepod else SUPERPOD) % {"nodes": nodes, "management_nodes": case["expected"]["management_nodes"]}, case["id"])
    assert state.design, state.findings
    tree = fabric.render(state.project or Project("x", state.design, {}, {}))
    return (_basepod if basepod else _superpod)(state.design, tree)


def models(fabric):
    """How many switches of each model, by the ids of the catalog."""
    return Counter(tier.switch.id for tier in fabric.tiers for _ in tier.names)


def _basepod(design, tree):
    compute, front, oob = (design.fabrics[name] for name in ("compute", "front", "oob"))
    bill, cat6 = rows(tree, "fabric/compute/bill-of-materials.csv"), rows(tree, "fabric/oob/bill-of-materials.csv")
    fibres = [r for r in bill if r["medium"] in ("multimode", "single-mode")]
    count = lambda item: sum(int(r["count"]) for r in bill if r["item"] == item)  # noqa: E731
    ports = rows(tree, "fabric/compute/p2p.csv")
    assert count("switch transceiver") == len({(r["z_device"], r["z_cage"]) for r in ports if r["medium"] in ("multimode", "single-mode")})
    return {
        "qm9700": models(compute)["qm9700"],
        "sn4600c": models(front)["sn4600c"],
        "sn2201": models(oob)["sn2201"],
        "twin_port_dac_inter_switch": sum(p.count for p in parts(runs(design.facilities["hall"], compute)) if p.joins == "leaf-spine" and p.what == "cable"),
        "aoc_100g_dgx": sum(r["medium"] == "aoc" for r in rows(tree, "fabric/front/p2p.csv") if r["a_device"] in design.pools["gpu"].hosts and r["gbps"] == "100"),
        "cat6": sum(int(r["count"]) for r in cat6 if r["medium"] == "twisted-pair"),
        "dgx_transceivers": count("host transceiver"),
        "switch_transceivers": count("switch transceiver"),
        "fibres_printed": sum(int(r["count"]) for r in fibres),
        "fibre_links": sum(int(r["links"]) for r in fibres),
    }


def _superpod(design, tree):
    compute, storage, front, oob = (design.fabrics[name] for name in ("compute", "storage", "front", "oob"))
    assert all(len(rows(tree, f"fabric/{f.name}/p2p.csv")) == f.cables.total for f in (compute, storage, front, oob))
    return {
        "storage_ib.leaf": len(storage.leaves),
        "storage_ib.spine": len(storage.spines),
        "storage_ib.model": storage.switch.name.split()[-1],
        "in_band_ethernet.leaf": len(front.leaves),
        "in_band_ethernet.spine": len(front.spines),
        "in_band_ethernet.model": front.switch.name.split()[-1],
        "in_band_ethernet.sn2201": models(front)["sn2201"],
        "out_of_band.sn2201": models(oob)["sn2201"],
        "compute_ufm": len(compute.manager.hosts) if compute.manager.kind == "ufm" else 0,
        "storage_ufm": len(storage.manager.hosts) if storage.manager.kind == "ufm" else 0,
    }


def flat(printed):
    out = {}
    for name, value in printed.items():
        out |= {f"{name}.{inner}": v for inner, v in value.items()} if isinstance(value, dict) else {name: value}
    return out


def compare(case, found, different):
    """Raises AssertionError for a field that nothing here knows, one that differs without a reason, and a reason for one that agrees."""
    printed = {name: value for name, value in flat(case["expected"]).items() if name not in GIVEN}
    assert printed.keys() <= found.keys(), f"fields that the test does not know: {sorted(printed.keys() - found.keys())}"
    idle = sorted(name for name, (here, why) in different.items() if not why or printed.get(name, here) == here)
    assert not idle, f"said to differ without need or reason: {idle}"
    wrong = {name: found[name] for name in printed if found[name] != different.get(name, (printed[name],))[0]}
    assert not wrong, f"neither printed nor said to differ: {wrong}"


@pytest.mark.parametrize("case", BILLS, ids=lambda c: c["id"])
def test_published_bills(case):
    compare(case, designed(case), DIFFERENT.get(case["id"], {}))


@pytest.mark.parametrize(
    ("expected", "different", "complaint"),
    [
        ({"leaf": 8, "colour": "red"}, {}, "does not know: ['colour']"),
        ({"switches": {"leaf": 8, "cores": 0}}, {}, "does not know: ['switches.cores']"),
        ({"leaf": 9}, {}, "neither printed nor said to differ: {'leaf': 8}"),
        ({"leaf": 9}, {"leaf": (7, "it is so")}, "neither printed nor said to differ: {'leaf': 8}"),
        ({"leaf": 8}, {"leaf": (8, "it is so")}, "without need or reason: ['leaf']"),
        ({"leaf": 9}, {"leaf": (8, "")}, "without need or reason: ['leaf']"),
        ({"leaf": 8}, {"spine": (4, "it is so")}, "without need or reason: ['spine']"),
    ],
)
def test_a_comparison_can_fail(expected, different, complaint):
    with pytest.raises(AssertionError, match=re.escape(complaint)):
        compare({"expected": expected}, {"leaf": 8, "switches.leaf": 8}, different)


# --- cable lists: two switches a rack at U24 and U18, a spine at U1, one rack beside the other


def hall(racks):
    """Racks of 42 units side by side."""
    units = {"spine": 1, "lower": 18, "upper": 24}
    stand = [Rack(f"R{r}", 1, r, tuple(Standing(f"R{r}-U{u}", u, 1, None, None, "") for u in units.values())) for r in range(1, racks + 1)]
    return Facility("x", tuple(stand), Limits(42, 0, 0), Floor(), 0, None, None, ())


def end(text):
    rack, unit, port = re.fullmatch(r"(R\d+)-U(\d+)-(P\d+[AB])", text).groups()
    return rack, int(unit), "", port


@pytest.mark.parametrize("case", LISTS, ids=lambda c: c["id"])
def test_published_labels(case):
    """The rows' labels are those that the same two ends get here."""
    for row in case["expected"]["rack_1_rows"]:
        assert label(end(row["a"]), end(row["z"])) == f"{row['a']} to {row['z']}"


@pytest.mark.parametrize("case", LISTS, ids=lambda c: c["id"])
def test_published_splits(case):
    """The designer's rotating split, by the ports that the guide calls them: every printed row, in its order, and the derived counts."""
    inputs, expected = case["inputs"], case["expected"]
    uplinks, racks, units = inputs["uplinks_per_leaf"], inputs["racks"], inputs["leaf_units"]
    tree = Tree(racks * len(units), uplinks, 0, 100, racks * len(units), PodSize(racks, 1, 0, 1, 0), rotating=True)
    (found,) = tree.links()
    spine_ports = [port for ports in (inputs["spine_ports_upper_leaf"], inputs["spine_ports_lower_leaf"]) for port in ports]
    rows = [
        (f"R{a // len(units) + 1}-{units[a % len(units)]}-{inputs['leaf_uplink_ports'][a_port - 1]}", f"R{b - tree.leaves + 1}-{inputs['spine_unit']}-{spine_ports[b_port - 1]}")
        for a, a_port, b, b_port in zip(*(x.tolist() for x in (found.a, found.a_port, found.b, found.b_port)), strict=True)
    ]
    assert rows[: len(expected["rack_1_rows"])] == [(row["a"], row["z"]) for row in expected["rack_1_rows"]]
    assert len(rows) == len(set(rows)) == expected["total_cables"] == tree.counts["leaf-spine"]
    assert set(Counter(found.b.tolist()).values()) == {expected["spine_ports_used_per_spine"]}
    pairs = Counter(zip(found.a.tolist(), found.b.tolist(), strict=True))
    for leaf in range(tree.leaves):
        onwards = [pairs[leaf, tree.leaves + (leaf // len(units) + k) % racks] for k in range(racks)]
        assert onwards == expected["cables_per_leaf_spine_pair_from_own_rack_onwards"]


# Length here, of those on sale in the guides (3, 5, 10 m), where it is not the printed one: list → (rack distance → metres, why).
LENGTHS = {
    "oracle-m8-2rack": ({1: 10}, "cables go up to trays above the racks and down again; the guide leads them from rack to rack below"),
    "oracle-t4-3rack": ({0: 3, 1: 10, 2: 10}, "the guide has 5 m everywhere; between racks as the list of two racks"),
}  # fmt: skip


@pytest.mark.parametrize("case", LISTS, ids=lambda c: c["id"])
def test_published_lengths(case):
    facility, sold = hall(case["inputs"]["racks"]), np.array([3, 5, 10])
    excused, _ = LENGTHS.get(case["id"], ({}, ""))
    differing = Counter()
    for row in case["expected"]["rack_1_rows"]:
        a, z = (text.rpartition("-")[0] for text in (row["a"], row["z"]))
        (need,) = lengths(places(facility, [a]), places(facility, [z]))
        metres, distance = int(sold[np.searchsorted(sold, need)]), int(z[1]) - int(a[1])
        assert metres == excused.get(distance, row["length_m"]), (row, need)
        differing[distance] += metres != row["length_m"]
    assert {distance for distance, n in differing.items() if n} == excused.keys()
