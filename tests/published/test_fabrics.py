"""Sizes against published tables: NVIDIA's DGX SuperPOD reference architectures and others, as quoted in published_fabrics.json.

IACGEN_CASES names a folder with further rows in the same form. A row says what the designer is told (``inputs``) and what the
table prints (``expected``); which of the designer's figures a printed one is stands in FIGURES.
"""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from iacgen import catalog
from iacgen.catalog import HostNic, Source, Switch
from iacgen.design.fabric import quoted, rail_fat_tree
from iacgen.design.fabric.model import Fabric, Manager, Tier
from iacgen.design.fabric.shape import Request

FOLDER = Path(os.environ.get("IACGEN_CASES") or Path(__file__).parents[1] / "cases")
ALL = json.loads((FOLDER / "published_fabrics.json").read_text())["cases"]
SIZED = [c for c in ALL if c["kind"] in ("compute_fabric", "negative")]
FIGURES = {
    "gpus": "gpus", "leaf": "leaf", "spine": "spine", "core": "core", "node_leaf_cables": "host_cables",
    "leaf_spine_cables": "leaf_spine_cables", "spine_core_cables": "spine_core_cables",
}  # fmt: skip
SOURCE = (Source(figures=("ports_by_gbps",), where="case file", date="2026-01"),)


class Pool:
    def __init__(self, count, grow_to=0):
        self.name, self.count, self.planned = "gpu", count, max(count, grow_to)

    def host(self, index):
        return f"gpu{index + 1:05d}"


def switch_of(inputs):
    """The switch of the row: its ports where it states them, else those that the catalog has for the model."""
    if "radix" in inputs:
        ports = {inputs["port_gbps"]: inputs["radix"]}
        return Switch(kind="switch", id="x", name=inputs["switch_model"], sources=SOURCE, vendor="x", technologies=("infiniband",), ports_by_gbps=ports, cages=inputs["radix"] // 2, form="osfp", cage_links=2, rack_units=1)
    return catalog.switch(inputs.get("switch_model", "QM9700").lower())


def request(inputs):
    """One plane of what the row asks for. NVL72 racks: a compute tray is a node with a port a rail, a rack a unit with a leaf a rail,
    and every rail has spines of its own. A row without units buys whole ones, as large as the leaves allow."""
    switch = switch_of(inputs)
    gbps = inputs.get("port_gbps") or max(switch.ports_by_gbps)
    if "racks_per_su" in inputs:
        trays = inputs["gpus_per_rack"] // inputs["rails"]
        units = inputs["racks_per_su"] * inputs["scalable_units"]
        asked = _request(switch, gbps, Pool(trays * units), inputs["rails"], trays, 0)
        return replace(asked, rail_groups=True, spines=inputs["spine_per_rail_group"], pod=inputs["racks_per_su"], oversubscription=float(inputs["oversubscription"]))
    rails = inputs.get("rails", inputs["gpus_per_node"])
    return _request(switch, gbps, Pool(inputs["nodes"]), rails, inputs.get("su_nodes"), inputs.get("fabric_manager_ports", 0))


def _request(switch, gbps, pool, rails, unit, manager_ports):
    return Request("compute", [pool], {"gpu": HostNic(nic="x", count=rails, gbps=gbps)}, {"gpu": gbps}, switch, unit, "by-unit", 1.0, manager_ports)


def built(inputs):
    """The fabric of a row, of one plane."""
    asked = request(inputs)
    shape = rail_fat_tree.shape(asked)
    manager = Manager("ufm", ("ufm1",), asked.manager_ports) if asked.manager_ports else None
    leaves = tuple(leaf for group in shape.groups for leaf in group.leaves)
    tiers = tuple(Tier(kind, asked.switch, names) for kind, names in (("leaf", leaves), ("spine", shape.spines), ("core", shape.cores)) if names)
    return Fabric(
        "compute", "x", "compute", "infiniband", "rail-fat-tree", tiers, ("gpu",), asked.nics, asked.link_gbps, asked.unit, shape.groups,
        shape.pods, shape.trunks, manager, None, None, {}, (), 1, shape.reserved, shape.growth,
    )  # fmt: skip


def gpus_of(inputs):
    if "racks_per_su" in inputs:
        return inputs["racks_per_su"] * inputs["scalable_units"] * inputs["gpus_per_rack"]
    return inputs["nodes"] * inputs["gpus_per_node"]


def designed(inputs):
    """Figures as tables count them: switches of all planes; a cable holds a link of each plane."""
    found = quoted.figures(built(inputs), gpus_of(inputs))
    planes, shared = inputs.get("planes", 1), inputs.get("links_per_cable", 1)
    return {name: n if name == "gpus" else n * planes // (shared if name.endswith("cables") else 1) for name, n in found.items()}


@pytest.mark.parametrize("case", SIZED, ids=lambda c: c["id"])
def test_published_counts(case):
    found = designed(case["inputs"])
    printed = {FIGURES[name]: n for name, n in case["expected"].items() if name in FIGURES}
    assert printed == {name: found[name] for name in printed}
    if "tiers" in case["expected"]:
        assert case["expected"]["tiers"] == len(built(case["inputs"]).tiers)


@pytest.mark.parametrize("case", [c for c in SIZED if c["kind"] == "negative"], ids=lambda c: c["id"])
def test_a_printed_figure_that_cannot_be_is_named(case):
    """Fed with the table as it is printed, the comparison names the figures that differ from what the row itself implies, no other."""
    fabric, gpus = built(case["inputs"]), gpus_of(case["inputs"])
    printed = {FIGURES[name]: n for name, n in case["printed"].items()}
    wrong = {FIGURES[name] for name, n in case["printed"].items() if n != case["expected"][name]}
    assert wrong and {name for name, *_ in quoted.differences(fabric, gpus, printed)} == wrong


@pytest.mark.parametrize("case", [c for c in ALL if "max_scalable_units" in c["inputs"]], ids=lambda c: c["id"])
def test_published_limits(case):
    """Laid out for as many units as the source allows, and not for one more."""
    inputs, expected = case["inputs"], case["expected"]
    trays = inputs["gpus_per_rack"] // inputs["rails"]
    most = inputs["max_scalable_units"] * inputs["racks_per_su"]
    asked = request(inputs)
    grown = rail_fat_tree.shape(replace(asked, pools=[Pool(asked.pools[0].count, most * trays)]))
    assert (grown.growth.most, grown.growth.most * inputs["gpus_per_rack"]) == (expected["max_racks"], expected["max_gpus"])
    assert grown.trunks.size.spines == expected["core_groups_at_max"]
    assert grown.trunks.apart == expected["rail_groups"]


@pytest.mark.parametrize("case", SIZED, ids=lambda c: c["id"])
def test_expanded_cables_agree_with_the_counts(case):
    fabric = built(case["inputs"])
    radix = switch_of(case["inputs"]).ports(fabric.link_gbps["gpu"])
    ends, joins = set(), {"host-leaf": 0, "manager-leaf": 0, "leaf-spine": 0, "spine-core": 0}
    for cable in fabric.wiring():
        for end in ((cable.a, cable.a_port), (cable.b, cable.b_port)):
            assert end not in ends, f"two cables in {end}"
            ends.add(end)
        joins[cable.joins] += 1
    counts = fabric.cables
    assert joins == {"host-leaf": counts.host, "manager-leaf": counts.manager, "leaf-spine": counts.leaf_spine, "spine-core": counts.spine_core}
    switches = set(fabric.switch_names)
    assert all(1 <= int(port) <= radix for device, port in ends if device in switches)


def test_the_cases_are_there():
    assert len(SIZED) >= 12
