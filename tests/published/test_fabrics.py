"""Sizes against published tables: NVIDIA's DGX SuperPOD reference architectures and others.

``published_fabrics.json`` lies in the folder that IACGEN_CASES names, else in tests/cases, where ``further_fabrics.json`` has more rows in
the same form. A row says what the designer is told (``inputs``) and what the table prints (``expected``). A key that is not known here
fails the row by its name: no figure passes because nobody looked at it.
"""

import json
import os
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

# Printed name → figure of the designer, of all planes; those of cables by physical cable.
FIGURES = {
    "gpus": "gpus", "leaf": "leaf", "spine": "spine", "core": "core", "node_leaf_cables": "host_cables",
    "leaf_spine_cables": "leaf_spine_cables", "spine_core_cables": "spine_core_cables",
}  # fmt: skip
# Printed, and nothing that sizes a fabric: name → why it is not compared.
NO_FIGURE = {"tdp_mw_per_su": "the heat of a unit of racks is the hall's, and the row has no hall"}
# What a row may tell the designer. ``design`` and the like are words for the reader.
TOLD = {
    "design", "switch_model", "radix", "port_gbps", "planes", "links_per_cable", "su_nodes", "rails", "gpus_per_node", "ports_per_node", "fabric_manager_ports",
    "scalable_units", "nodes", "racks_per_su", "gpus_per_rack", "leaf_per_rail_group", "spine_per_rail_group", "oversubscription", "max_scalable_units", "topology", "tiers",
    "spines", "group",
}  # fmt: skip
SOURCE = (Source(figures=("ports_by_gbps",), where="case file", date="2026-01"),)


class Pool:
    def __init__(self, count, grow_to=0):
        self.name, self.count, self.planned = "gpu", count, max(count, grow_to)

    def host(self, index):
        return f"gpu{index + 1:06d}"


def switch_of(inputs):
    """The switch of the row: its ports where it states them, else those that the catalog has for the model."""
    if "radix" in inputs:
        ports = {inputs.get("port_gbps", 400): inputs["radix"]}
        return Switch(kind="switch", id="x", name=inputs.get("switch_model", "x"), sources=SOURCE, vendor="x", technologies=("infiniband",), ports_by_gbps=ports, cages=inputs["radix"], form="osfp", cage_links=1, rack_units=1)
    model = inputs.get("switch_model", "QM9700").lower()
    assert model in catalog.ids("switches"), f"the row has no radix, and the catalog no {model}"
    return catalog.switch(model)


def size(inputs):
    """(nodes, largest unit). Units of uneven size come as a list; nodes follow from units where the row has none, one fewer beside a
    fabric manager."""
    units = inputs.get("su_nodes")
    if isinstance(units, list):
        return inputs.get("nodes", sum(units)), max(units)
    nodes = inputs.get("nodes") or inputs["scalable_units"] * units - bool(inputs.get("fabric_manager_ports"))
    return nodes, units


def request(inputs):
    """One plane of what the row asks for. NVL72 racks: a compute tray is a node with a port a rail, a rack a unit with a leaf a rail, and
    every rail has spines of its own, the same in each scalable unit. A row without units buys whole ones, as large as leaves allow."""
    switch = switch_of(inputs)
    gbps = inputs.get("port_gbps") or max(switch.ports_by_gbps)
    asked = Request("compute", [], {}, {"gpu": gbps}, switch, None, "by-unit", float(inputs.get("oversubscription", 1)), inputs.get("fabric_manager_ports", 0), tiers=inputs.get("tiers"), spines=inputs.get("spines"))
    if "racks_per_su" in inputs:
        trays, units = inputs["gpus_per_rack"] // inputs["rails"], inputs["racks_per_su"] * inputs["scalable_units"]
        several = 3 if inputs["scalable_units"] > 1 else inputs.get("tiers")
        asked = replace(asked, pools=[Pool(trays * units)], unit=trays, rail_groups=True, spines=inputs["spine_per_rail_group"], pod=inputs["racks_per_su"], tiers=several)
        ports = inputs["rails"]
    else:
        nodes, unit = size(inputs)
        ports = next(inputs[key] for key in ("rails", "ports_per_node", "gpus_per_node") if key in inputs)
        asked = replace(asked, pools=[Pool(nodes)], unit=unit, group=Group(**inputs.get("group", {})))
    return replace(asked, nics={"gpu": HostNic(nic="x", count=ports, gbps=gbps)})


def topology_of(case):
    return case["inputs"].get("topology", "fat-tree" if case["kind"] == "frontend_fabric" else "rail-fat-tree")


def built(case):
    """The fabric of a row, of one plane. Raises FabricError."""
    asked, topology = request(case["inputs"]), topology_of(case)
    shape = TOPOLOGIES[topology](asked)
    manager = Manager("ufm", ("ufm1",), asked.manager_ports) if asked.manager_ports else None
    leaves = tuple(leaf for group in shape.groups for leaf in group.leaves)
    tiers = tuple(Tier(kind, asked.switch, names) for kind, names in (("leaf", leaves), ("spine", shape.spines), ("core", shape.cores)) if names)
    return Fabric(
        "compute", "x", "compute", "infiniband", topology, tiers, ("gpu",), asked.nics, asked.link_gbps, asked.unit, shape.groups,
        shape.pods, shape.trunks, manager, None, None, {}, (), 1, shape.reserved, shape.growth,
    )  # fmt: skip


def accepted(case):
    """The same, where the row is one that a table has: a refusal is no crash but a row that does not come out."""
    try:
        return built(case)
    except FabricError as error:
        pytest.fail(f"row {case['id']} is refused: {error.field}: {error}")


def gpus_of(inputs):
    if "racks_per_su" in inputs:
        return inputs["racks_per_su"] * inputs["scalable_units"] * inputs["gpus_per_rack"]
    return size(inputs)[0] * inputs.get("gpus_per_node", inputs.get("ports_per_node", 1))


def designed(case):
    """Figures by their printed names: switches of all planes; a cable holds a link of each plane that the row says it shares."""
    inputs, fabric = case["inputs"], accepted(case)
    found = quoted.figures(fabric, gpus_of(inputs))
    planes, shared = inputs.get("planes", 1), inputs.get("links_per_cable", 1)
    out = {name: n if name == "gpus" else n * planes // (shared if name.endswith("cables") else 1) for name, n in ((name, found[figure]) for name, figure in FIGURES.items())}
    out |= {"tiers": len(fabric.tiers), "nodes": len(fabric.hosts), "switches": fabric.switches * planes, "total_cables": fabric.cables.total * planes // shared}
    out |= {"groups": len(fabric.pods), "group_group_cables": fabric.cables.across, "links_between_two_groups": getattr(fabric.trunks, "between", 0)}
    if fabric.trunks and hasattr(fabric.trunks, "uplinks"):
        out |= {"uplinks_per_leaf": fabric.trunks.uplinks, "links_per_leaf_spine_pair": fabric.trunks.size.parallel}
    if "racks_per_su" in inputs:
        out["leaf_per_rail_group"] = len(fabric.leaves) // inputs["rails"] // inputs["scalable_units"]
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
        out |= {"max_racks": most, "rail_groups": grown.trunks.apart, "core_groups_at_max": grown.trunks.size.spines}
    return out


def covered(case):
    """A row whose inputs are understood and enough; one of a frontend that is not is skipped by name, any other fails by name."""
    inputs = case["inputs"]
    lacks = [] if inputs.keys() & {"nodes", "scalable_units", "su_nodes"} else ["how many nodes"]
    lacks += [] if inputs.keys() & {"rails", "ports_per_node", "gpus_per_node"} else ["how many ports a node has"]
    unknown = sorted(inputs.keys() - TOLD)
    why = f"row {case['id']}" + (f" tells the designer {', '.join(unknown)}, and the designer is not told" if unknown else f" does not say {' and '.join(lacks)}")
    if case["kind"] == "frontend_fabric" and (unknown or lacks):
        pytest.skip(f"NOT COVERED: {why}: {', '.join(sorted(case['expected']))} not compared")
    assert not unknown and not lacks, why


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


def refusal(case):
    with pytest.raises(FabricError) as refused:
        built(case)
    return refused.value


@pytest.mark.parametrize("case", NEGATIVE, ids=lambda c: c["id"])
def test_a_row_that_cannot_be_is_refused_by_its_wrong_field(case):
    """A misprinted table: the comparison that users get for ``quoted`` names the figures that differ from what the row itself implies, no
    other. A request that no switch can carry: refused, with the limit and the key where the row has them."""
    covered(case)
    expected = case.get("expected", {})
    if "printed" not in case:
        error = refusal(case)
        assert f"{expected['limit']:,}" in str(error) if "limit" in expected else True
        assert expected.get("field", error.field) == error.field
        return
    unknown = sorted(case["printed"].keys() - FIGURES.keys())
    assert not unknown, f"row {case['id']} prints {', '.join(unknown)}, which no figure of the designer is compared with"
    found = designed(case)
    assert {name: found.get(name) for name in expected} == expected
    wrong = {FIGURES[name] for name, n in case["printed"].items() if n != found[name]}
    named = {name for name, *_ in quoted.differences(built(case), gpus_of(case["inputs"]), {FIGURES[name]: n for name, n in case["printed"].items()})}
    assert wrong and named == wrong


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
    radix = switch_of(case["inputs"]).ports(fabric.link_gbps["gpu"])
    ends, joins = set(), {}
    for cable in fabric.wiring():
        for end in ((cable.a, cable.a_port), (cable.b, cable.b_port)):
            assert end not in ends, f"two cables in {end}"
            ends.add(end)
        joins[cable.joins] = joins.get(cable.joins, 0) + 1
    counts = fabric.cables
    wanted = {"host-leaf": counts.host, "manager-leaf": counts.manager, "leaf-spine": counts.leaf_spine, "spine-core": counts.spine_core, "leaf-leaf": counts.local, "group-group": counts.across}
    assert joins == {name: n for name, n in wanted.items() if n}
    switches = set(fabric.switch_names)
    assert all(1 <= int(port) <= radix for device, port in ends if device in switches)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"expected": {"spline": 4}}, "prints spline"),
        ({"inputs": {"moons": 2}}, "tells the designer moons"),
        ({"inputs": {"nodes": 99_999}}, "is refused: switch"),
        ({"kind": "negative", "printed": {"spline": 4}}, "prints spline"),
    ],
)
def test_a_row_that_is_not_understood_fails_by_name(change, says):
    row = next(c for c in FURTHER if c["id"] == "b200-4su")
    row = row | {name: row.get(name, {}) | value if isinstance(value, dict) else value for name, value in change.items()}
    with pytest.raises((AssertionError, pytest.fail.Exception), match=says):
        (test_a_row_that_cannot_be_is_refused_by_its_wrong_field if row["kind"] == "negative" else test_published_counts)(row)
