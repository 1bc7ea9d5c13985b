"""Sizes against published tables: NVIDIA's DGX SuperPOD reference architectures, as quoted in published_fabrics.json."""

import json
import os
from pathlib import Path

import pytest

from iacgen.catalog import HostNic, Source, Switch
from iacgen.design.fabric import rail_fat_tree
from iacgen.design.fabric.model import Fabric, Manager
from iacgen.design.fabric.shape import FabricError, Request

FOLDER = Path(os.environ.get("IACGEN_CASES") or Path(__file__).parents[1] / "cases")
CASES = [c for c in json.loads((FOLDER / "published_fabrics.json").read_text())["cases"] if {"su_nodes", "radix", "rails"} <= c["inputs"].keys()]


class Pool:
    def __init__(self, count):
        self.name, self.count, self.hosts = "gpu", count, tuple(f"gpu{i + 1:05d}" for i in range(count))


def request(inputs):
    """One plane; two planes are the same fabric twice, and the table counts their cables together."""
    source = (Source(figures=("ports_by_gbps",), where="case file", date="2026-01"),)
    switch = Switch(kind="switch", id="x", name=inputs["switch_model"], sources=source, vendor="x", technologies=("infiniband",),
                    ports_by_gbps={inputs["port_gbps"]: inputs["radix"]}, cage_links=2, rack_units=1)  # fmt: skip
    nic = HostNic(nic="x", count=inputs["rails"], gbps=inputs["port_gbps"])
    return Request("compute", [Pool(inputs["nodes"])], {"gpu": nic}, {"gpu": inputs["port_gbps"]}, switch, inputs["su_nodes"], "by-unit", 1.0, inputs["fabric_manager_ports"])


def built(inputs):
    asked = request(inputs)
    shape = rail_fat_tree.shape(asked)
    manager = Manager("ufm", ("ufm1",), asked.manager_ports) if asked.manager_ports else None
    return Fabric("compute", "x", "compute", "infiniband", "rail-fat-tree", asked.switch, ("gpu",), asked.nics, asked.link_gbps, asked.unit,
                  shape.groups, shape.spines, shape.uplinks, manager, None, None, {}, ())  # fmt: skip


TWO_TIERS = [c for c in CASES if c["expected"]["tiers"] == 2]


@pytest.mark.parametrize("case", TWO_TIERS, ids=lambda c: c["id"])
def test_published_counts(case):
    inputs, expected = case["inputs"], case["expected"]
    fabric, planes = built(inputs), inputs["planes"]
    cables = {kind: count * planes // inputs.get("links_per_cable", 1) for kind, count in vars_of(fabric.cables).items()}
    got = {"leaf": len(fabric.leaves) * planes, "spine": len(fabric.spines) * planes, "node_leaf_cables": cables["host"] + cables["manager"], "leaf_spine_cables": cables["leaf_spine"]}
    assert got == {key: expected[key] for key in got}


def vars_of(counts):
    return {"host": counts.host, "manager": counts.manager, "leaf_spine": counts.leaf_spine}


@pytest.mark.parametrize("case", TWO_TIERS, ids=lambda c: c["id"])
def test_expanded_cables_agree_with_the_counts(case):
    fabric = built(case["inputs"])
    ends, joins = set(), {"host-leaf": 0, "manager-leaf": 0, "leaf-spine": 0}
    for cable in fabric.wiring():
        for end in ((cable.a, cable.a_port), (cable.b, cable.b_port)):
            assert end not in ends, f"two cables in {end}"
            ends.add(end)
        joins[cable.joins] += 1
    assert joins == {"host-leaf": fabric.cables.host, "manager-leaf": fabric.cables.manager, "leaf-spine": fabric.cables.leaf_spine}
    switches = {*fabric.leaves, *fabric.spines}
    assert all(1 <= int(port) <= case["inputs"]["radix"] for device, port in ends if device in switches)


@pytest.mark.parametrize("case", [c for c in CASES if c["expected"]["tiers"] == 3], ids=lambda c: c["id"])
def test_three_tiers_are_refused_not_guessed(case):
    with pytest.raises(FabricError, match="three tiers"):
        built(case["inputs"])


def test_the_cases_are_there():
    assert len(TWO_TIERS) >= 9
