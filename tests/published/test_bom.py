"""Bills of materials and cable lists as they were published, field by field.

What differs stands in a table by the kind of design, with the reason and what must then be so: a reason that does not hold excuses
nothing. IACGEN_CASES names a folder with further rows in the same form. A key that nothing here reads fails the row by its name.
"""

import csv
import io
import json
import os
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from iacgen import catalog
from iacgen.design.fabric.sizing import PodSize
from iacgen.design.fabric.tree import Tree
from iacgen.design.facility import Facility, Floor, Limits, Rack, Standing
from iacgen.design.facility.cables import parts, runs
from iacgen.design.facility.lengths import TRAY_M, UNIT_M, lengths, places
from iacgen.pipeline import run
from iacgen.placement.project import Project
from iacgen.targets import fabric
from iacgen.targets.fabric.wired import label

HERE = Path(__file__).parents[1] / "cases"
FOLDER = Path(os.environ.get("IACGEN_CASES") or HERE)
GIVEN, OWN = (json.loads((folder / "published_fabrics.json").read_text())["cases"] for folder in (FOLDER, HERE))
ALL = [*GIVEN, *(case for case in OWN if case["id"] not in {c["id"] for c in GIVEN})]
BILLS = [c for c in ALL if c["kind"] == "bom"]
LISTS = [c for c in ALL if c["kind"] == "cable_list"]

# Blueprints of the rows' designs. Where the row names a switch model that the designer would choose itself, nobody names it here.
BASEPOD = """kind: Cluster
schema: 1
name: basepod
sites: {hall: {kind: on-prem}}
nodes:
  gpu: {site: hall, system: %(system)s, count: %(nodes)d}
  mgmt: {site: hall, system: generic-1u, count: %(management_nodes)d}
fabrics:
  compute: {site: hall, purpose: compute, connects: [gpu], technology: infiniband, manager: {kind: opensm, pool: gpu}}
  front: {site: hall, purpose: in-band, connects: [gpu, mgmt], technology: ethernet, switch: sn4600c}
  oob: {site: hall, purpose: out-of-band, connects: [gpu, mgmt], technology: ethernet}
"""
SUPERPOD = """kind: Cluster
schema: 1
name: superpod
sites: {hall: {kind: on-prem, rack: {power: %(rack_kw)dkW}}}
nodes:
  gpu: {site: hall, system: %(system)s, count: %(nodes)d}
  oss: {site: hall, system: lustre-oss, count: 8}
  mds: {site: hall, system: lustre-mds, count: 2}
  mgmt: {site: hall, system: generic-1u, count: %(management_nodes)d}
  ufm-compute: {site: hall, system: generic-1u-ndr, count: 3}
  ufm-storage: {site: hall, system: generic-1u-ndr, count: 3}
fabrics:
  compute: {site: hall, purpose: compute, connects: [gpu], technology: infiniband, topology: rail-fat-tree, unit: %(unit)d, manager: {kind: ufm, pool: ufm-compute}}
  storage: {site: hall, purpose: storage, connects: [gpu, oss, mds], technology: infiniband, manager: {kind: ufm, pool: ufm-storage}}
  front: {site: hall, purpose: in-band, connects: [gpu, oss, mds, mgmt], technology: ethernet}
  oob: {site: hall, purpose: out-of-band, connects: [gpu, oss, mds, mgmt], technology: ethernet}
"""
KEYS = {"id", "kind", "source", "trust", "inputs", "expected", "notes"}  # of a row
UNIT = 32  # nodes of a scalable unit of DGX H100, H200 and B200: SuperPOD reference architectures
# Design → what tells that a row is of it, the inputs that are read; ``design`` is for the reader.
DESIGNS = {
    "basepod": ("ndr_links_per_node", {"design", "nodes", "gpus_per_node", "ndr_links_per_node"}),
    "superpod": ("racks_per_su", {"design", "scalable_units", "nodes_per_rack", "racks_per_su"}),
}
# Field of a row that says what there is, and is not found: the blueprint above is told it.
GIVEN = {"management_nodes"}


def tree(ports, radix):
    """(leaves, spines) of two tiers at 1:1, one switch where that is enough: half of a leaf's ports for hosts, and the smallest divisor
    of its uplinks for which all leaves fit on a spine."""
    if ports <= radix:
        return 1, 0
    up, leaves = radix // 2, -(-ports // (radix // 2))
    return leaves, next(n for n in range(1, up + 1) if up % n == 0 and leaves * (up // n) <= radix)


# Design and field → (whether the reason holds of (printed, ours), the reason).
DIFFERENT = {
    "basepod": {
        "qm9700": (lambda p, f: (p, f["qm9700"]) == (2, 1) and f["ports.compute"] <= 64, "all ports fit on one switch; the pod has two, joined back to back, so that one may fail"),
        "twin_port_dac_inter_switch": (lambda p, f: p and f["qm9700"] == 1, "with one switch there is nothing to join"),
        "sn4600c": (lambda p, f: (p, f["sn4600c"]) == (2, 1) and f["ports.front"] <= 64, "all ports fit on one switch; the pod has two, so that one may fail"),
        "aoc_100g_dgx": (lambda p, f: f["aoc_100g_dgx"] == 0 and f["dac_100g_dgx"] == p, "copper of 5 m reaches from the machines to a switch in the rack beside them"),
        "cat6": (lambda p, f: p > f["cat6"] == f["ports.oob"], "a console of each machine and the management port of each switch; the row does not say what its other ends are"),
        "fibres_printed": (lambda p, f: 2 * p == f["fibres_printed"] == f["fibre_links"], "printed a cage; a link is a fibre, as the row's own fibre_links says"),
    },
    "superpod": {
        "storage_ib.leaf": (lambda p, f: 32 * p >= f["ports.storage.dgx"] and f["storage_ib.leaf"] == tree(f["ports.storage"], 64)[0], "all ports at 1:1, 32 a leaf; the table has those of the DGX, and is laid out for storage of the customer's choice"),
        "storage_ib.spine": (lambda p, f: f["storage_ib.spine"] == tree(f["ports.storage"], 64)[1], "spines that join those leaves with equal links"),
        "in_band_ethernet.leaf": (lambda p, f: f["in_band_ethernet.leaf"] == tree(f["ports.front"], 128)[0], "all ports at 1:1, 64 a leaf at 400G; the row does not tell the speed and the ratio of its own"),
        "in_band_ethernet.spine": (lambda p, f: f["in_band_ethernet.spine"] == tree(f["ports.front"], 128)[1], "spines that join those leaves with equal links"),
        "in_band_ethernet.sn2201": (lambda p, f: f["in_band_ethernet.sn2201"] == 0, "every machine is reached in-band over its fast ports"),
        "out_of_band.sn2201": (lambda p, f: p > f["out_of_band.sn2201"] and f["out_of_band.leaf"] == -(-f["ports.oob"] // 48), "a port for each machine and switch, 48 a leaf, and what joins the leaves; the table counts them by racks, and its other ends are not told"),
    },
}  # fmt: skip


def design_of(case):
    """The design that a row is of, all of whose keys are read. Raises AssertionError by the name of a key that is not."""
    inputs = case["inputs"]
    found = [name for name, (tells, _) in DESIGNS.items() if tells in inputs]
    assert len(found) == 1, f"row {case['id']}: no design here has {', '.join(sorted(inputs))}"
    unread = sorted((case.keys() - KEYS) | (inputs.keys() - DESIGNS[found[0]][1]))
    assert not unread, f"row {case['id']} tells {', '.join(unread)}, which nothing here reads"
    return found[0]


def rows(tree, path):
    return list(csv.DictReader(io.StringIO(tree[path], newline="")))


def machine(case):
    """The machines that a row's design is of, the last that it names. Raises AssertionError where the catalog has none of the name."""
    named = [name for name in re.findall(r"[ABH]\d00", case["inputs"]["design"].upper()) if f"dgx-{name.lower()}" in catalog.ids("systems")]
    assert named, f"row {case['id']}: no machine of the catalog in design {case['inputs']['design']}"
    return catalog.system(f"dgx-{named[-1].lower()}")


def designed(case):
    """Figures of the row as they come out here, every one read off the design or off its files."""
    inputs, basepod = case["inputs"], design_of(case) == "basepod"
    nodes = inputs["nodes"] if basepod else inputs["scalable_units"] * UNIT - 1  # UFM takes the place of one
    system, per_rack = machine(case), inputs.get("nodes_per_rack", 1)
    told = {"nodes": nodes, "unit": UNIT, "system": system.id, "management_nodes": case["expected"]["management_nodes"], "rack_kw": round(system.power_kw * (per_rack + 0.5))}
    state = run((BASEPOD if basepod else SUPERPOD) % told, case["id"])
    assert state.design, state.findings
    design, tree = state.design, fabric.render(state.project or Project("x", state.design, {}, {}))
    gpu = design.pools["gpu"]
    if basepod:
        assert (inputs["gpus_per_node"], inputs["ndr_links_per_node"]) == (gpu.system.gpus, design.fabrics["compute"].nics["gpu"].count)
    else:
        racks = Counter(design.facilities["hall"].place_of[host][0].name for host in gpu.hosts)
        assert inputs["nodes_per_rack"] * inputs["racks_per_su"] == UNIT, "nodes_per_rack and racks_per_su contradict the unit"
        assert (max(racks.values()), len(racks)) == (inputs["nodes_per_rack"], inputs["racks_per_su"] * inputs["scalable_units"])
    ports = {f"ports.{f.name}": f.cables.host + f.cables.manager for f in design.fabrics.values()}
    return ports | (_basepod if basepod else _superpod)(design, tree)


def models(fabric):
    """How many switches of each model, by the ids of the catalog."""
    return Counter(tier.switch.id for tier in fabric.tiers for _ in tier.names)


def _basepod(design, tree):
    compute, front, oob = (design.fabrics[name] for name in ("compute", "front", "oob"))
    bill, cat6 = rows(tree, "fabric/compute/bill-of-materials.csv"), rows(tree, "fabric/oob/bill-of-materials.csv")
    fibres = [r for r in bill if r["medium"] in ("multimode", "single-mode")]
    count = lambda item: sum(int(r["count"]) for r in bill if r["item"] == item)  # noqa: E731
    ports = rows(tree, "fabric/compute/p2p.csv")
    dgx = [r for r in rows(tree, "fabric/front/p2p.csv") if r["a_device"] in design.pools["gpu"].hosts and r["gbps"] == "100"]
    assert count("switch transceiver") == len({(r["z_device"], r["z_cage"]) for r in ports if r["medium"] in ("multimode", "single-mode")})
    return {
        "qm9700": models(compute)["qm9700"],
        "sn4600c": models(front)["sn4600c"],
        "sn2201": models(oob)["sn2201"],
        "twin_port_dac_inter_switch": sum(p.count for p in parts(runs(design.facilities["hall"], compute)) if p.joins == "leaf-spine" and p.what == "cable"),
        **{f"{medium}_100g_dgx": sum(r["medium"] == medium for r in dgx) for medium in ("aoc", "dac")},
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
        "ports.storage.dgx": design.pools["gpu"].count * storage.nics["gpu"].count,
        "storage_ib.leaf": len(storage.leaves),
        "storage_ib.spine": len(storage.spines),
        "storage_ib.model": storage.switch.name.split()[-1],
        "in_band_ethernet.leaf": len(front.leaves),
        "in_band_ethernet.spine": len(front.spines),
        "in_band_ethernet.model": front.switch.name.split()[-1],
        "in_band_ethernet.sn2201": models(front)["sn2201"],
        "out_of_band.leaf": len(oob.leaves),
        "out_of_band.sn2201": models(oob)["sn2201"],
        "compute_ufm": len(compute.manager.hosts) if compute.manager.kind == "ufm" else 0,
        "storage_ufm": len(storage.manager.hosts) if storage.manager.kind == "ufm" else 0,
    }


def flat(printed):
    out = {}
    for name, value in printed.items():
        out |= {f"{name}.{inner}": v for inner, v in value.items()} if isinstance(value, dict) else {name: value}
    return out


def compare(case, found, reasons):
    """Fields that differ for a reason that holds. Raises AssertionError for one that nothing here knows, and one without such a reason."""
    printed = {name: value for name, value in flat(case["expected"]).items() if name not in GIVEN}
    assert printed.keys() <= found.keys(), f"fields that the test does not know: {sorted(printed.keys() - found.keys())}"
    differing = {name for name, value in printed.items() if found[name] != value}
    wrong = {name: found[name] for name in differing if name not in reasons or not reasons[name][1] or not reasons[name][0](printed[name], found)}
    assert not wrong, f"neither printed nor differing for a reason that holds: {wrong}"
    return differing


@pytest.mark.parametrize("case", BILLS, ids=lambda c: c["id"])
def test_published_bills(case):
    compare(case, designed(case), DIFFERENT[design_of(case)])


def test_every_reason_is_needed():
    """By a row of the project's own folder."""
    own = [c for c in OWN if c["kind"] == "bom"]
    needed = {(design_of(case), name) for case in own for name in compare(case, designed(case), DIFFERENT[design_of(case)])}
    assert needed == {(design, name) for design, reasons in DIFFERENT.items() for name in reasons}


@pytest.mark.parametrize(
    ("expected", "reasons", "complaint"),
    [
        ({"leaf": 8, "colour": "red"}, {}, "does not know: ['colour']"),
        ({"switches": {"leaf": 8, "cores": 0}}, {}, "does not know: ['switches.cores']"),
        ({"leaf": 9}, {}, "a reason that holds: {'leaf': 8}"),
        ({"leaf": 9}, {"leaf": (lambda p, f: p == 7, "it is so")}, "a reason that holds: {'leaf': 8}"),
        ({"leaf": 9}, {"leaf": (lambda p, f: True, "")}, "a reason that holds: {'leaf': 8}"),
        ({"leaf": 9}, {"spine": (lambda p, f: True, "it is so")}, "a reason that holds: {'leaf': 8}"),
    ],
)
def test_a_comparison_can_fail(expected, reasons, complaint):
    with pytest.raises(AssertionError, match=re.escape(complaint)):
        compare({"expected": expected}, {"leaf": 8, "switches.leaf": 8}, reasons)


@pytest.mark.parametrize(("change", "says"), [({"moons": 2}, "tells moons"), ({"inputs": {"moons": 2, "racks_per_su": 16}}, "tells moons"), ({"inputs": {"nodes": 4}}, "no design here has nodes"), ({"inputs": {"racks_per_su": 16, "nodes_per_rack": 2, "scalable_units": 4, "design": "Z80"}}, "no machine of the catalog in design Z80"), ({"inputs": {"racks_per_su": 8, "nodes_per_rack": 2, "scalable_units": 4, "design": "DGX B200"}}, "contradict the unit")])
def test_a_row_that_is_not_understood_fails_by_name(change, says):
    case = next(c for c in OWN if c["kind"] == "bom" and "racks_per_su" in c["inputs"])
    with pytest.raises(AssertionError, match=says):
        designed(case | change)


# --- cable lists: leaves and a spine in each rack, one rack beside the other


def hall(racks, units):
    """Racks of 42 units side by side, each with devices at these units."""
    stand = [Rack(f"R{r}", 1, r, tuple(Standing(f"R{r}-U{u}", u, 1, None, None, "") for u in sorted(units))) for r in range(1, racks + 1)]
    return Facility("x", tuple(stand), Limits(42, 0, 0), Floor(), 0, None, None, ())


def end(text):
    rack, unit, port = re.fullmatch(r"(R\d+)-U(\d+)-(P\d+[AB])", text).groups()
    return rack, int(unit), "", port


PORTS = ("leaf_uplink_ports", "spine_ports_upper_leaf", "spine_ports_lower_leaf")
TOLD = {"racks", "leaf_units", "spine_unit", "uplinks_per_leaf", *PORTS, "length_m", "length_m_by_rack_distance"}
COUNTS = {"total_cables", "cables_per_leaf_spine_pair_from_own_rack_onwards", "spine_ports_used_per_spine"}
ROWS = re.compile(r"rack_(\d+)_rows")


def told_length(inputs, distance):
    """Metres that the list's own rule gives a cable to a rack so far away; None where it has no rule."""
    for reach, metres in inputs.get("length_m_by_rack_distance", {}).items():
        first, more = re.fullmatch(r"(\d+)( and more)?", reach).groups()
        if distance == int(first) or (more and distance > int(first)):
            return metres
    return inputs.get("length_m")


def apart(row):
    """Racks from one end of a printed row to the other."""
    return abs(int(row["a"][1:].partition("-")[0]) - int(row["z"][1:].partition("-")[0]))


def understood(case):
    """The printed rows of a list by rack, after a look at all its keys. Raises AssertionError by the name of one that nothing here reads,
    and of those that contradict each other."""
    inputs, expected = case["inputs"], case["expected"]
    printed = {int(found[1]): rows for key, rows in expected.items() if (found := ROWS.fullmatch(key))}
    unread = (case.keys() - KEYS) | (inputs.keys() - TOLD) | {key for key in expected.keys() - COUNTS if not ROWS.fullmatch(key)}
    unread |= {key for rows in printed.values() for row in rows for key in row.keys() - {"a", "z", "length_m"}}
    assert not unread, f"row {case['id']} has {', '.join(sorted(unread))}, which nothing here reads"
    lacking = sorted(key for key in PORTS if len(inputs[key]) != inputs["uplinks_per_leaf"])
    assert not lacking, f"row {case['id']} contradicts itself: uplinks_per_leaf {inputs['uplinks_per_leaf']} and {', '.join(lacking)}"
    for row in (row for rows in printed.values() for row in rows):
        told = told_length(inputs, apart(row))
        assert row.get("length_m", told) == (told or row.get("length_m")), f"row {case['id']} contradicts itself: {row['a']} has length_m {row['length_m']}, and {told} is told for {apart(row)} racks"
    return printed


@pytest.mark.parametrize("case", LISTS, ids=lambda c: c["id"])
def test_published_labels(case):
    """The rows' labels are those that the same two ends get here."""
    for row in (row for rows in understood(case).values() for row in rows):
        assert label(end(row["a"]), end(row["z"])) == f"{row['a']} to {row['z']}"


@pytest.mark.parametrize("case", LISTS, ids=lambda c: c["id"])
def test_published_splits(case):
    """The designer's rotating split, by the ports that the guide calls them: every printed row, in its order, and the derived counts."""
    inputs, expected, printed = case["inputs"], case["expected"], understood(case)
    uplinks, racks, units = inputs["uplinks_per_leaf"], inputs["racks"], inputs["leaf_units"]
    tree = Tree(racks * len(units), uplinks, 0, 100, racks * len(units), PodSize(racks, 1, 0, 1, 0), rotating=True)
    (found,) = tree.links()
    spine_ports = [port for ports in (inputs["spine_ports_upper_leaf"], inputs["spine_ports_lower_leaf"]) for port in ports]
    rows = [
        (f"R{a // len(units) + 1}-{units[a % len(units)]}-{inputs['leaf_uplink_ports'][a_port - 1]}", f"R{b - tree.leaves + 1}-{inputs['spine_unit']}-{spine_ports[b_port - 1]}")
        for a, a_port, b, b_port in zip(*(x.tolist() for x in (found.a, found.a_port, found.b, found.b_port)), strict=True)
    ]
    each = uplinks * len(units)  # cables of a rack
    for rack, own in printed.items():
        assert rows[each * (rack - 1) :][: len(own)] == [(row["a"], row["z"]) for row in own]
    assert len(rows) == len(set(rows)) == tree.counts["leaf-spine"] == expected.get("total_cables", len(rows))
    assert set(Counter(found.b.tolist()).values()) == {expected.get("spine_ports_used_per_spine", each)}
    pairs = Counter(zip(found.a.tolist(), found.b.tolist(), strict=True))
    for leaf in range(tree.leaves):
        onwards = [pairs[leaf, tree.leaves + (leaf // len(units) + k) % racks] for k in range(racks)]
        assert onwards == expected.get("cables_per_leaf_spine_pair_from_own_rack_onwards", onwards)


def below(facility, things):
    """The same places where cables lie as far below the racks as ours lie above them."""
    return replace(things, up_m=facility.limits.units * UNIT_M + TRAY_M - things.up_m + TRAY_M)


def why_longer(facility, a, z, metres):
    """Why a cable of the list is shorter than ours, in words; empty where it is for no reason that holds.

    The guides lead cables from rack to rack below, between devices most of which stand low; ours go up to trays above the racks and down
    again. Then the list's cable must reach by the way below."""
    (way,) = lengths(below(facility, places(facility, [a])), below(facility, places(facility, [z])))
    return "its way lies below the racks, and ours above" if a.partition("-")[0] != z.partition("-")[0] and way <= metres else ""


def has_lengths(case):
    return bool(case["inputs"].keys() & {"length_m", "length_m_by_rack_distance"}) or "length_m" in json.dumps(case["expected"])


@pytest.mark.parametrize("case", [c for c in LISTS if has_lengths(c)], ids=lambda c: c["id"])
def test_published_lengths(case):
    """Every printed cable against the rule of halls, in the lengths that the list itself has: the same, or shorter for a reason that holds."""
    inputs, printed = case["inputs"], understood(case)
    facility = hall(inputs["racks"], [int(unit[1:]) for unit in (inputs["spine_unit"], *inputs["leaf_units"])])
    wired = [(row, row.get("length_m", told_length(inputs, apart(row)))) for rows in printed.values() for row in rows]
    sold = sorted({metres for _, metres in wired} | set(inputs.get("length_m_by_rack_distance", {}).values()))
    compared = Counter()
    for row, metres in wired:
        a, z = (text.rpartition("-")[0] for text in (row["a"], row["z"]))
        (need,) = lengths(places(facility, [a]), places(facility, [z]))
        ours = next((length for length in sold if length >= need), None)
        compared[ours == metres] += 1
        assert ours == metres or ((ours or need) > metres and why_longer(facility, a, z, metres)), (row, need, ours)
    assert compared[True], "no length of this list is one of ours"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"inputs": {"moons": 2}}, "has moons, which"),
        ({"expected": {"moons": 2}}, "has moons, which"),
        ({"inputs": {"uplinks_per_leaf": 7}}, "contradicts itself: uplinks_per_leaf 7"),
        ({"inputs": {"length_m_by_rack_distance": {"0": 5, "1 and more": 5}}}, "has length_m 3, and 5 is told for 0 racks"),
        ({"inputs": {"length_m_by_rack_distance": {"0": 3, "1 and more": 10}}}, "has length_m 5, and 10 is told for 1 racks"),
    ],
)
def test_a_list_that_is_not_understood_fails_by_name(change, says):
    case = json.loads(json.dumps(next(c for c in OWN if c["kind"] == "cable_list" and "length_m_by_rack_distance" in c["inputs"])))
    for part, more in change.items():
        case[part] |= more
    with pytest.raises(AssertionError, match=says):
        understood(case)


@pytest.mark.parametrize(("distance", "metres"), [(0, 1), (1, 3), (3, 3), (7, 5)])
def test_a_cable_that_is_too_short_any_way_fails(distance, metres):
    """Two metres lie between U24 and U1 of a rack, more between racks by whatever way."""
    facility = hall(8, [1, 18, 24])
    a, z = "R1-U24", f"R{1 + distance}-U1"
    assert not why_longer(facility, a, z, metres)
