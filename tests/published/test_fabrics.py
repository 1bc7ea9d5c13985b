"""Sizes against published tables: NVIDIA's DGX SuperPOD reference architectures and others.

``published_fabrics.json`` lies in the folder that IACGEN_CASES names, else in tests/cases, where ``further_fabrics.json`` has more rows in
the same form. A row says what the designer is told (``inputs``) and what the table prints (``expected``). A key that is not known here
fails the row by its name, wherever in the row it stands: no figure passes because nobody looked at it. Inputs that contradict each other
are refused by their names before anything is designed.
"""

import json
import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from iacgen import catalog
from iacgen.catalog import HostNic, Source, Switch
from iacgen.design.fabric import quoted
from iacgen.design.fabric.build import TOPOLOGIES
from iacgen.design.fabric.model import Fabric, Manager, Tier
from iacgen.design.fabric.shape import FabricError, Group, Request

HERE = Path(__file__).parents[1] / "cases"
FOLDER = Path(os.environ.get("IACGEN_CASES") or HERE)
GIVEN, FURTHER = (json.loads(file.read_text())["cases"] for file in (FOLDER / "published_fabrics.json", HERE / "further_fabrics.json"))
ALL = [*GIVEN, *(case for case in FURTHER if case["id"] not in {c["id"] for c in GIVEN})]
KINDS = {"compute_fabric", "frontend_fabric", "negative"}
ELSEWHERE = {"bom", "cable_list"}  # test_bom.py
SIZED = [c for c in ALL if c["kind"] not in ELSEWHERE]
POSITIVE = [c for c in SIZED if c["kind"] != "negative"]
NEGATIVE = [c for c in SIZED if c["kind"] == "negative"]

KEYS = {"id", "kind", "source", "trust", "inputs", "expected", "printed", "notes"}  # of a row; those not compared are words for the reader
# Printed name → figure of the designer, of all planes; those of cables by physical cable.
FIGURES = {
    "nodes": "nodes", "gpus": "gpus", "tiers": "tiers", "switches": "switches", "leaf": "leaf", "spine": "spine", "core": "core",
    "node_leaf_cables": "host_cables", "leaf_spine_cables": "leaf_spine_cables", "spine_core_cables": "spine_core_cables",
}  # fmt: skip
PORTS = ("rails", "ports_per_node", "links_per_node", "gpus_per_node")  # what says how many ports a node has, the surest first
OF_A_PLANE = {"nodes", "gpus", "tiers"}  # the same in each: every node is on all planes
# Printed, and nothing that sizes a fabric: name → why it is not compared.
NO_FIGURE = {"tdp_mw_per_su": "the heat of a unit of racks is the hall's, and the row has no hall"}
# What a row may tell the designer. ``design`` and the like are words for the reader.
TOLD = {
    "design", "switch_model", "radix", "port_gbps", "planes", "links_per_cable", "su_nodes", *PORTS, "fabric_manager_ports",
    "scalable_units", "nodes", "gpus", "racks_per_su", "gpus_per_rack", "leaf_per_rail_group", "spine_per_rail_group", "oversubscription", "max_scalable_units", "topology", "tiers",
    "spines", "group", "spine_radix", "spine_oversubscription", "pod",
}  # fmt: skip
SOURCE = (Source(figures=("ports_by_gbps",), where="case file", date="2026-01"),)


class Pool:
    def __init__(self, count, grow_to=0):
        self.name, self.count, self.planned = "gpu", count, max(count, grow_to)

    def host(self, index):
        return f"gpu{index + 1:06d}"


def switch_of(inputs, radix="radix"):
    """The switch of the row: its ports where it states them, else those that the catalog has for the model."""
    if radix in inputs:
        ports = {inputs.get("port_gbps", 400): inputs[radix]}
        return Switch(kind="switch", id="x", name=inputs.get("switch_model", "x"), sources=SOURCE, vendor="x", technologies=("infiniband",), ports_by_gbps=ports, cages=inputs[radix], form="osfp", cage_links=1, rack_units=1)
    model = inputs.get("switch_model", "QM9700").lower()
    assert model in catalog.ids("switches"), f"the row has no radix, and the catalog no {model}"
    return catalog.switch(model)


def full_units(inputs):
    """Nodes of the scalable units that the row has, one fewer beside a fabric manager; of uneven ones the sum."""
    units = inputs.get("su_nodes")
    return sum(units) if isinstance(units, list) else inputs["scalable_units"] * units - bool(inputs.get("fabric_manager_ports"))


def size(inputs):
    """(nodes, largest unit): the nodes as told, else by the GPUs, else by the units."""
    units = inputs.get("su_nodes")
    nodes = inputs.get("nodes") or (inputs["gpus"] // inputs["gpus_per_node"] if "gpus" in inputs else full_units(inputs))
    return nodes, max(units) if isinstance(units, list) else units


# Keys that say the same thing twice, and whether they agree; asked where a row has all of them.
def _units_hold_the_nodes(r):
    units, of_a_unit, nodes = r["scalable_units"], r["su_nodes"], r["nodes"]
    if isinstance(of_a_unit, list):
        return len(of_a_unit) == units and sum(of_a_unit) == nodes
    return -(-(nodes + bool(r.get("fabric_manager_ports"))) // of_a_unit) == units


def _catalog_has_the_ports(r):
    known = r["switch_model"].lower()
    return known not in catalog.ids("switches") or catalog.switch(known).ports(r["port_gbps"]) == r["radix"]


AGREE = {
    ("nodes", "scalable_units", "su_nodes"): _units_hold_the_nodes,
    ("gpus", "nodes", "gpus_per_node"): lambda r: r["gpus"] == r["nodes"] * r["gpus_per_node"],
    ("gpus", "gpus_per_node"): lambda r: r["gpus"] % r["gpus_per_node"] == 0,
    ("gpus", "scalable_units", "su_nodes", "gpus_per_node"): lambda r: _units_hold_the_nodes(r | {"nodes": r["gpus"] // r["gpus_per_node"]}),
    ("gpus", "scalable_units", "racks_per_su", "gpus_per_rack"): lambda r: r["gpus"] == r["scalable_units"] * r["racks_per_su"] * r["gpus_per_rack"],
    ("gpus_per_rack", "rails"): lambda r: r["gpus_per_rack"] % r["rails"] == 0,
    ("leaf_per_rail_group", "racks_per_su"): lambda r: r["leaf_per_rail_group"] == r["racks_per_su"],  # a rack is a unit, with a leaf a rail
    ("scalable_units", "max_scalable_units"): lambda r: r["scalable_units"] <= r["max_scalable_units"],
    ("switch_model", "port_gbps", "radix"): _catalog_has_the_ports,
}
# Key that a refusal of the designer blames → those that rows have for it.
KEYS_OF = {
    "unit": {"su_nodes"}, "units": {"su_nodes"}, "switch": {"switch_model", "radix"}, "manager": {"fabric_manager_ports"},
    "spines": {"spines", "spine_per_rail_group"}, "spine": {"spine_radix"},
}  # fmt: skip
FOLLOWS = ("nodes", "gpus", "scalable_units")  # each follows from other keys: a row that contradicts itself can be read without one of them


def contradictions(inputs):
    """The keys that contradict each other."""
    return {key for keys, agree in AGREE.items() if inputs.keys() >= set(keys) and not agree(inputs) for key in keys}


def request(inputs):
    """One plane of what the row asks for. NVL72 racks: a compute tray is a node with a port a rail, a rack a unit with a leaf a rail, and
    every rail has spines of its own, the same in each scalable unit. A row without units buys whole ones, as large as leaves allow."""
    switch = switch_of(inputs)
    gbps = inputs.get("port_gbps") or max(switch.ports_by_gbps)
    asked = Request("compute", [], {}, {"gpu": gbps}, switch, None, "by-unit", float(inputs.get("oversubscription", 1)), inputs.get("fabric_manager_ports", 0), tiers=inputs.get("tiers"), spines=inputs.get("spines"))
    asked = replace(asked, upper=switch_of(inputs, "spine_radix") if "spine_radix" in inputs else None, spine_oversubscription=float(inputs.get("spine_oversubscription", 1)), pod=inputs.get("pod"))
    if "racks_per_su" in inputs:
        trays, units = inputs["gpus_per_rack"] // inputs["rails"], inputs["racks_per_su"] * inputs["scalable_units"]
        several = 3 if inputs["scalable_units"] > 1 else inputs.get("tiers")
        asked = replace(asked, pools=[Pool(trays * units)], unit=trays, rail_groups=True, spines=inputs["spine_per_rail_group"], pod=inputs["racks_per_su"], tiers=several)
        ports = inputs["rails"]
    else:
        nodes, unit = size(inputs)
        ports = next(inputs[key] for key in PORTS if key in inputs)
        uneven = tuple(inputs["su_nodes"]) if isinstance(inputs.get("su_nodes"), list) else ()
        asked = replace(asked, pools=[Pool(nodes)], unit=unit, units=uneven, group=Group(**inputs.get("group", {})))
    return replace(asked, nics={"gpu": HostNic(nic="x", count=ports, gbps=gbps)})


def topology_of(case):
    return case["inputs"].get("topology", "fat-tree" if case["kind"] == "frontend_fabric" else "rail-fat-tree")


def built(case):
    """The fabric of a row, of one plane. Raises FabricError."""
    asked, topology = request(case["inputs"]), topology_of(case)
    shape = TOPOLOGIES[topology](asked)
    manager = Manager("ufm", ("ufm1",), asked.manager_ports) if asked.manager_ports else None
    leaves = tuple(leaf for group in shape.groups for leaf in group.leaves)
    tiers = tuple(Tier(kind, asked.switch if kind == "leaf" else asked.above, names) for kind, names in (("leaf", leaves), ("spine", shape.spines), ("core", shape.cores)) if names)
    return Fabric(
        "compute", "x", "compute", "infiniband", topology, tiers, ("gpu",), asked.nics, asked.link_gbps, asked.unit, shape.groups,
        shape.pods, shape.trunks, manager, None, None, {}, (), 1, shape.reserved, shape.growth,
    )  # fmt: skip


def accepted(case):
    """The same, where the row is one that a table has: a refusal is no crash but a row that does not come out."""
    wrong = contradictions(case["inputs"])
    said = ", ".join(f"{key} {case['inputs'][key]}" for key in sorted(wrong))
    assert not wrong, f"row {case['id']} contradicts itself: {said}"
    try:
        return built(case)
    except FabricError as error:
        pytest.fail(f"row {case['id']} is refused: {error.field}: {error}")


def gpus_of(inputs):
    if "racks_per_su" in inputs:
        return inputs["racks_per_su"] * inputs["scalable_units"] * inputs["gpus_per_rack"]
    return size(inputs)[0] * inputs.get("gpus_per_node", inputs.get("ports_per_node", inputs.get("links_per_node", 1)))


def designed(case):
    """Figures by their printed names: switches of all planes; a cable holds a link of each plane that the row says it shares."""
    inputs, fabric = case["inputs"], accepted(case)
    found = quoted.figures(fabric, gpus_of(inputs))
    planes = inputs.get("planes", 1)
    out = {name: found[figure] * (1 if name in OF_A_PLANE else planes) for name, figure in FIGURES.items()} | {"total_cables": fabric.cables.total * planes}
    for name in out:
        if name.endswith("cables"):
            out[name], alone = divmod(out[name], inputs.get("links_per_cable", 1))
            assert not alone, f"row {case['id']}: links_per_cable {inputs['links_per_cable']} leaves {name} that is no whole number"
    out |= {"groups": len(fabric.pods), "pods": len(fabric.pods), "group_group_cables": fabric.cables.across, "links_between_two_groups": getattr(fabric.trunks, "between", 0)}
    if fabric.trunks and hasattr(fabric.trunks, "uplinks"):
        out |= {"uplinks_per_leaf": fabric.trunks.uplinks, "links_per_leaf_spine_pair": fabric.trunks.size.parallel}
    if "racks_per_su" in inputs:
        out |= {"leaf_per_rail_group": len(fabric.leaves) // inputs["rails"] // inputs["scalable_units"], "rail_groups": fabric.trunks.apart}
    return out | limits(case, fabric)


def limits(case, fabric):
    """How far a row may grow that says so: laid out for as many units as the source allows, and not for one more."""
    inputs = case["inputs"]
    if "max_scalable_units" not in inputs:
        return {}
    asked = request(inputs)
    per = inputs.get("racks_per_su", 1)
    grown = TOPOLOGIES[topology_of(case)](replace(asked, pools=[Pool(asked.pools[0].count, inputs["max_scalable_units"] * per * asked.unit)]))
    most = grown.growth.most
    out = {"max_nodes": most * asked.unit, "max_gpus": most * inputs.get("gpus_per_rack", asked.unit * inputs.get("gpus_per_node", 0))}
    if "racks_per_su" in inputs:
        out |= {"max_racks": most, "core_groups_at_max": grown.trunks.size.spines}
    return out


def covered(case):
    """A row whose keys are all understood, and whose inputs are enough; any other fails by name."""
    inputs = case["inputs"]
    unknown = sorted(case.keys() - KEYS)
    assert not unknown, f"row {case['id']} has {', '.join(unknown)}, which nothing here reads"
    assert "printed" not in case or case["kind"] == "negative", f"row {case['id']} has printed, which is of negative rows"
    lacks = [] if inputs.keys() & {"nodes", "gpus", "scalable_units", "su_nodes"} else ["how many nodes"]
    lacks += [] if inputs.keys() & set(PORTS) else ["how many ports a node has"]
    unknown = sorted((inputs.keys() - TOLD) | {f"group.{key}" for key in inputs.get("group", {}) if key not in Group.__dataclass_fields__})
    assert not unknown, f"row {case['id']} tells the designer {', '.join(unknown)}, and the designer is not told"
    assert not lacks, f"row {case['id']} does not say {' and '.join(lacks)}"


def test_no_row_is_left_out():
    kinds = {c["id"]: c["kind"] for c in ALL if c["kind"] not in KINDS | ELSEWHERE}
    assert not kinds, f"rows of kinds that nothing here compares: {kinds}"
    assert POSITIVE and NEGATIVE
    ids = [c["id"] for c in ALL]
    assert len(ids) == len(set(ids)), "a row stands twice"


@pytest.mark.parametrize("case", POSITIVE, ids=lambda c: c["id"])
def test_published_counts(case):
    """Every figure that is printed, and none that is not known."""
    covered(case)
    found = designed(case)
    printed = {name: n for name, n in case["expected"].items() if name not in NO_FIGURE}
    printed |= {"leaf_per_rail_group": n for key, n in case["inputs"].items() if key == "leaf_per_rail_group"}  # told, and follows from the racks
    unknown = sorted(printed.keys() - found.keys())
    assert not unknown, f"row {case['id']} prints {', '.join(unknown)}, which no figure of the designer is compared with"
    assert printed == {name: found[name] for name in printed}


def blamed(case):
    """(keys and figures of a negative row that are wrong, what the designer said): by the row alone where it contradicts itself, by the
    refusal, by the comparison that users get for ``quoted``."""
    wrong, found = contradictions(case["inputs"]), {}
    try:
        fabric = built(case)
    except FabricError as error:
        return wrong | {error.field} | KEYS_OF.get(error.field, set()) & case["inputs"].keys(), str(error)
    printed = case.get("printed", {})
    if not wrong:
        found = designed(case)
        unknown = sorted(printed.keys() - found.keys())
        assert not unknown, f"row {case['id']} prints {', '.join(unknown)}, which no figure of the designer is compared with"
        planes = case["inputs"].get("planes", 1)
        # The comparison of the product is of what one cable holds one link of, and one plane; the rest is compared here.
        own = printed.keys() & FIGURES.keys() if planes == 1 and case["inputs"].get("links_per_cable", 1) == 1 else set()
        names = {figure: name for name, figure in FIGURES.items()}
        wrong |= {names[figure] for figure, *_ in quoted.differences(fabric, gpus_of(case["inputs"]), {FIGURES[name]: printed[name] for name in own})}
        wrong |= {name for name in printed.keys() - own if printed[name] != found[name]}
    return wrong, ""


def readings(inputs):
    """What a row can mean: itself, or where it contradicts itself, what is left without one of the keys that follow from others."""
    without = [{k: v for k, v in inputs.items() if k != key} for key in FOLLOWS if key in inputs]
    return [r for r in (without if contradictions(inputs) else [inputs]) if not contradictions(r)]


@pytest.mark.parametrize("case", NEGATIVE, ids=lambda c: c["id"])
def test_a_row_that_cannot_be_is_refused_by_its_wrong_field(case):
    """A misprinted table, or inputs that contradict each other: what is wrong is named. A request that no switch can carry: refused, with
    the limit and the key where the row has them. Figures that the row expects in spite of it come out of what is right of it."""
    covered(case)
    expected = dict(case.get("expected", {}))
    field, limit = expected.pop("field", None), expected.pop("limit", None)
    wrong, said = blamed(case)
    assert wrong, f"row {case['id']} is negative, and nothing of it is refused"
    assert field is None or field in wrong, f"{field} is wrong, and {', '.join(map(str, wrong))} is blamed"
    assert limit is None or f"{limit:,}" in said, f"{limit:,} is the limit, and the refusal says: {said}"
    if expected:
        found = []
        for reading in readings(case["inputs"]):
            with suppress(FabricError):
                built(case | {"inputs": reading})
                found.append(designed(case | {"inputs": reading}))
        unknown = sorted(expected.keys() - found[0].keys()) if found else []
        assert not unknown, f"row {case['id']} prints {', '.join(unknown)}, which no figure of the designer is compared with"
        assert expected in [{name: figures[name] for name in expected} for figures in found]


EXPANDED = 40_000  # links of a plane; larger ones are expanded in tests/bench


@pytest.mark.parametrize("case", POSITIVE, ids=lambda c: c["id"])
def test_expanded_cables_agree_with_the_counts(case):
    covered(case)
    fabric = accepted(case)
    if fabric.cables.total > EXPANDED:
        found = {}
        for links in fabric.each():
            found[links.joins] = found.get(links.joins, 0) + len(links)
        assert sum(found.values()) == fabric.cables.total
        return
    radix = {name: tier.switch.ports(fabric.link_gbps["gpu"]) for tier in fabric.tiers for name in tier.names}
    ends, joins = set(), {}
    for cable in fabric.wiring():
        for end in ((cable.a, cable.a_port), (cable.b, cable.b_port)):
            assert end not in ends, f"two cables in {end}"
            ends.add(end)
        joins[cable.joins] = joins.get(cable.joins, 0) + 1
    counts = fabric.cables
    wanted = {"host-leaf": counts.host, "manager-leaf": counts.manager, "leaf-spine": counts.leaf_spine, "spine-core": counts.spine_core, "leaf-leaf": counts.local, "group-group": counts.across}
    assert joins == {name: n for name, n in wanted.items() if n}
    assert all(1 <= int(port) <= radix[device] for device, port in ends if device in radix)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"expected": {"spline": 4}}, "prints spline"),
        ({"inputs": {"moons": 2}}, "tells the designer moons"),
        ({"inputs": {"nodes": 99_999, "scalable_units": 3125}}, "is refused: switch"),
        ({"kind": "negative", "printed": {"spline": 4}}, "prints spline"),
        ({"kind": "frontend_fabric", "inputs": {"moons": 2}}, "tells the designer moons"),
        ({"inputs": {"group": {"moons": 2}}}, "tells the designer group.moons"),
        ({"moons": 2}, "has moons, which nothing here reads"),
        ({"printed": {"leaf": 32}}, "has printed"),
        ({"inputs": {"nodes": 96}}, "contradicts itself: nodes 96, scalable_units 4, su_nodes 32"),
        ({"inputs": {"gpus": 1016}}, "contradicts itself: gpus 1016, gpus_per_node 8, nodes 128"),
        ({"inputs": {"radix": 40}}, "contradicts itself: port_gbps 400, radix 40, switch_model QM9700"),
        ({"inputs": {"su_nodes": [32, 32, 32]}}, "contradicts itself: nodes 128, scalable_units 4"),
        ({"inputs": {"links_per_cable": 3}}, "links_per_cable 3 leaves node_leaf_cables"),
        ({"kind": "negative"}, "is negative, and nothing of it is refused"),
        ({"kind": "negative", "printed": {"leaf": 32, "tiers": 2, "nodes": 128, "switches": 48}}, "nothing of it is refused"),
        ({"kind": "negative", "printed": {"leaf": 31}, "expected": {"field": "spine"}}, "spine is wrong, and leaf is blamed"),
    ],
)
def test_a_row_that_is_not_understood_fails_by_name(change, says):
    row = next(c for c in FURTHER if c["id"] == "b200-4su")
    row = {name: value | change[name] if name == "inputs" and name in change else value for name, value in row.items()} | {name: value for name, value in change.items() if name != "inputs"}
    with pytest.raises((AssertionError, pytest.fail.Exception), match=says):
        (test_a_row_that_cannot_be_is_refused_by_its_wrong_field if row["kind"] == "negative" else test_published_counts)(row)


# What is wrong with a row that is right otherwise → the fields that are blamed for it, among them the wrong one.
MISPRINTS = [
    ({"printed": {"tiers": 3, "leaf": 32}}, {"tiers"}),
    ({"printed": {"nodes": 127, "gpus": 1024}}, {"nodes"}),
    ({"printed": {"switches": 50, "leaf": 32, "spine": 16}}, {"switches"}),
    ({"printed": {"leaf": 33, "spine": 16, "leaf_spine_cables": 1056}}, {"leaf", "leaf_spine_cables"}),
    ({"printed": {"total_cables": 1024}}, {"total_cables"}),
    ({"inputs": {"nodes": 100, "scalable_units": 2}, "expected": {"nodes": 64, "leaf": 16}}, {"nodes", "scalable_units", "su_nodes"}),
    ({"inputs": {"scalable_units": 3}, "expected": {"nodes": 128, "field": "scalable_units"}}, {"nodes", "scalable_units", "su_nodes"}),
    ({"inputs": {"fabric_manager_ports": 4}, "expected": {"nodes": 127}}, {"nodes", "scalable_units", "su_nodes"}),
    ({"inputs": {"gpus": 512}, "expected": {"gpus": 1024}}, {"gpus", "nodes", "gpus_per_node", "scalable_units", "su_nodes"}),
    ({"inputs": {"nodes": 512, "scalable_units": 16, "tiers": 2}, "expected": {"field": "tiers", "limit": 2048}}, {"tiers"}),
    ({"inputs": {"su_nodes": 40, "scalable_units": 2, "nodes": 80}, "expected": {"field": "su_nodes"}}, {"unit", "su_nodes"}),
    ({"inputs": {"fabric_manager_ports": 4, "su_nodes": 16, "nodes": 63, "spines": 5}}, {"spines"}),
]  # fmt: skip


@pytest.mark.parametrize(("change", "named"), MISPRINTS, ids=lambda value: json.dumps(value) if isinstance(value, dict) else "")
def test_the_wrong_field_is_named(change, named):
    row = next(c for c in FURTHER if c["id"] == "b200-4su")
    row = {**row, "expected": {}, "kind": "negative", **change, "inputs": row["inputs"] | change.get("inputs", {})}
    test_a_row_that_cannot_be_is_refused_by_its_wrong_field(row)
    wrong, _ = blamed(row)
    assert named <= wrong <= named | {"manager", "fabric_manager_ports"}


def test_units_of_uneven_size_are_laid_as_told():
    row = next(c for c in FURTHER if c["id"] == "b200-4su")
    inputs = {key: value for key, value in row["inputs"].items() if key != "nodes"} | {"su_nodes": [32, 8, 16, 32]}
    assert [len(group.hosts) for group in built(row | {"inputs": inputs}).groups] == [32, 8, 16, 32]
