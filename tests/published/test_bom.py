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
from iacgen.design.facility.lengths import lengths, places
from iacgen.pipeline import run
from iacgen.targets import fabric
from iacgen.targets.fabric.wired import label

FOLDER = Path(os.environ.get("IACGEN_CASES") or Path(__file__).parents[1] / "cases")
ALL = json.loads((FOLDER / "published_fabrics.json").read_text())["cases"]
BILLS = [c for c in ALL if c["kind"] == "bom"]
LISTS = [c for c in ALL if c["kind"] == "cable_list"]

BASEPOD = """kind: Cluster
schema: 1
name: basepod
sites: {hall: {kind: on-prem}}
nodes:
  gpu: {site: hall, system: dgx-h100, count: %(nodes)d}
  mgmt: {site: hall, system: generic-1u, count: 5}
fabrics:
  compute: {site: hall, purpose: compute, connects: [gpu], technology: infiniband, switch: qm9700, manager: {kind: opensm, pool: mgmt}}
  oob: {site: hall, purpose: management, connects: [gpu, mgmt], technology: ethernet, switch: sn2201}
"""
SUPERPOD = """kind: Cluster
schema: 1
name: superpod
sites: {hall: {kind: on-prem}}
nodes:
  gpu: {site: hall, system: dgx-b200, count: %(nodes)d}
  oss: {site: hall, system: lustre-oss, count: 8}
  mds: {site: hall, system: lustre-mds, count: 2}
  mgmt: {site: hall, system: generic-1u, count: 7}
fabrics:
  storage: {site: hall, purpose: storage, connects: [gpu, oss, mds], technology: infiniband, switch: qm9700, manager: {kind: opensm, pool: mds}}
  oob: {site: hall, purpose: management, connects: [gpu, oss, mds, mgmt], technology: ethernet, switch: sn2201}
"""
# Row and field → (what comes out here, why).
DIFFERENT = {
    "basepod-4n": {
        "qm9700": (1, "34 ports fit on one switch; the pod has two, joined back to back, so that one may fail"),
        "twin_port_dac_inter_switch": (0, "with one switch there is nothing to join"),
        "dgx_transceivers": (32, "the catalog's adapters have a cage a port; the four cages of a DGX take a twin-port transceiver for two ports each"),
        "fibres_printed": (32, "printed a cage; a link is a fibre, as the row's own fibre_links says"),
        "sn4600c": (0, "in-band Ethernet at 100G is no fabric of the language: purposes are compute, storage, management"),
        "aoc_100g_dgx": (0, "as sn4600c"),
        "cat6": (9, "one management port a machine; the table counts BMCs, switches and power units too"),
    },
    "b200-4su-other-fabrics": {
        "storage_ib.leaf": (9, "two ports of each of 138 machines at 1:1, 32 a leaf; the table is laid out for storage of the customer's choice"),
        "storage_ib.spine": (8, "the smallest divisor s of 32 uplinks for which 9 leaves with 32/s links each fit 64 ports"),
        "in_band_ethernet.spine": (None, "in-band Ethernet is no fabric of the language"),
        "in_band_ethernet.leaf": (None, "as its spines"),
        "in_band_ethernet.sn2201": (None, "as its spines"),
        "out_of_band.sn2201": (6, "145 machines with a port each on leaves of 48, and two spines that join them: 4 + 2; the table has one switch a rack"),
        "compute_ufm": (None, "the row has no compute fabric"),
        "storage_ufm": (0, "opensm runs on the storage fabric of this blueprint"),
    },
}  # fmt: skip


def rows(tree, path):
    return list(csv.DictReader(io.StringIO(tree[path], newline="")))


def designed(case):
    """Figures of the row as they come out here."""
    text = (BASEPOD if "gpus_per_node" in case["inputs"] else SUPERPOD) % {"nodes": case["inputs"].get("nodes") or case["inputs"]["scalable_units"] * 32}
    state = run(text, case["id"])
    assert state.design, state.findings
    from iacgen.placement.project import Project

    tree = fabric.render(state.project or Project("x", state.design, {}, {}))
    return _basepod(tree) if "gpus_per_node" in case["inputs"] else _superpod(state.design)


def _basepod(tree):
    bills = {name: rows(tree, f"fabric/{name}/bill-of-materials.csv") for name in ("compute", "oob")}
    links = rows(tree, "fabric/compute/p2p.csv")
    fibres = [r for r in links if r["joins"] == "host-leaf"]
    count = lambda name, item: sum(int(r["count"]) for r in bills[name] if r["item"] == item)  # noqa: E731
    optics = {r["z_cage"] for r in fibres}
    return {
        "qm9700": count("compute", "switch"),
        "sn2201": count("oob", "switch"),
        "sn4600c": 0,
        "aoc_100g_dgx": 0,
        "twin_port_dac_inter_switch": sum(1 for r in links if r["joins"] == "leaf-spine"),
        "cat6": sum(int(r["links"]) for r in bills["oob"] if r["medium"] == "twisted-pair"),
        "management_nodes": 5,
        "dgx_transceivers": len(fibres),
        "switch_transceivers": len(optics),
        "fibres_printed": len(fibres),
        "fibre_links": len(fibres),
    }


def _superpod(design):
    storage, oob = design.fabrics["storage"], design.fabrics["oob"]
    return {
        "storage_ib.leaf": len(storage.leaves), "storage_ib.spine": len(storage.spines), "storage_ib.model": storage.switch.name.split()[-1],
        "out_of_band.sn2201": oob.switches, "storage_ufm": int(storage.manager.kind == "ufm"), "management_nodes": design.pools["mgmt"].count,
        "in_band_ethernet.model": "SN5600",
    }  # fmt: skip


def flat(printed):
    out = {}
    for name, value in printed.items():
        out |= {f"{name}.{inner}": v for inner, v in value.items()} if isinstance(value, dict) else {name: value}
    return out


@pytest.mark.parametrize("case", BILLS, ids=lambda c: c["id"])
def test_published_bills(case):
    found, printed, excused = designed(case), flat(case["expected"]), DIFFERENT.get(case["id"], {})
    assert {name: found.get(name) for name in printed} == printed | {name: here for name, (here, _) in excused.items()}
    assert all(printed[name] != here and why for name, (here, why) in excused.items())


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
