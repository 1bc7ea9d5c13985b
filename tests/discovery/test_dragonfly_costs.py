"""A planned dragonfly, told link by link as ibnetdiscover tells it, costs what the planned one does: for any order, and for the one that is chosen."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from iacgen.blueprint import parse
from iacgen.design import design
from iacgen.discovery import read
from iacgen.placement.choice import choose
from iacgen.placement.cost import cost
from iacgen.placement.ground import tiers_of, uncounted
from iacgen.placement.placing import Ground, placement_on
from iacgen.placement.tiers import of_fabric
from iacgen.training.traffic import NodeGrid, Traffic
from iacgen.verify.fabric.netlist import netlist
from iacgen.verify.fabric.plan import of_fabric as plan_of

SHAPES = {
    "dragonfly": {"topology": "dragonfly", "group": {"hosts": 16, "leaves": 4, "links": 2}},
    "two links between two groups": {"topology": "dragonfly", "group": {"hosts": 16, "leaves": 4, "links": 4}},
    "as many groups as routers in each": {"topology": "dragonfly", "group": {"hosts": 16, "leaves": 4, "links": 3}, "count": 32},
    "dragonfly-plus": {"topology": "dragonfly-plus", "group": {"hosts": 16, "leaves": 4, "spines": 8, "links": 2}},
    "two planes": {"topology": "dragonfly-plus", "group": {"hosts": 16, "leaves": 2, "spines": 4, "links": 4}, "planes": 2},
    "one group, whose routers are joined two by two": {"topology": "dragonfly", "group": {"hosts": 32, "leaves": 16, "links": 16}},
    "a group with one host": {"topology": "dragonfly", "group": {"hosts": 16, "leaves": 4, "links": 4}, "count": 33},
}
TRAFFIC = {
    "rings": (NodeGrid(1, 32, 1), Traffic(50e9, 0.0, 0.0, 0.0, False)),
    "rings and chains": (NodeGrid(4, 8, 1), Traffic(50e9, 20e9, 0.0, 0.0, True)),
    "experts": (NodeGrid(2, 16, 1, expert=8), Traffic(10e9, 5e9, 0.0, 30e9, False)),
}


def made(count=40, **fabric):
    data = {
        "kind": "Cluster", "schema": 1, "name": "t", "sites": {"hall": {"kind": "on-prem"}}, "nodes": {"gpu": {"site": "hall", "system": "hgx-h100", "count": count}},
        "fabrics": {"compute": {"site": "hall", "purpose": "compute", "connects": ["gpu"], "technology": "infiniband", "switch": "qm9700", **fabric}},
    }  # fmt: skip
    blueprint, findings = parse(data)
    assert blueprint and not findings, findings
    designed, findings = design(blueprint)
    assert designed, findings
    return designed.fabrics["compute"]


def told(fabric, speed="4xNDR"):
    """The netlist has ibsim's speed on every link: here it gets the one of the plan, 4 lanes of 100 Gb/s. Two planes are two ports of half of it."""
    return netlist(plan_of(fabric)).replace("4xSDR", speed).encode()


def found_in(text):
    found = read(text, "scan")
    assert not found.findings and len(found.hierarchies) == 1
    return found.hierarchies[0]


@pytest.fixture(scope="module", params=SHAPES)
def both(request):
    """(tiers of the planned fabric, tiers of the one found) over the same hosts in the same order."""
    fabric = made(**SHAPES[request.param])
    speed = "2xNDR" if fabric.planes == 2 else "4xNDR"
    planned = of_fabric(fabric, "gpu", fabric.hosts)
    hierarchy = found_in(told(fabric, speed)).only(fabric.hosts)
    nic = fabric.nics["gpu"].count * fabric.link_gbps["gpu"] * 1e9 / 8
    found = tiers_of(hierarchy, nic, np.inf)
    assert (found.ways is None) is (planned.ways is None) is (len(fabric.pods) == 1)
    assert found.pair_Bps is not None and uncounted(hierarchy, found) == ""
    return planned, found


@pytest.mark.parametrize("job", TRAFFIC)
def test_an_order_costs_what_it_does_on_the_plan(both, job):
    planned, found = both
    random = np.random.default_rng(7)
    for _ in range(20):
        order = random.permutation(planned.hosts)[:32]
        one, other = cost(planned, *TRAFFIC[job], order), cost(found, *TRAFFIC[job], order)
        assert [f.seconds for f in other.families] == pytest.approx([f.seconds for f in one.families], rel=1e-9)


@pytest.mark.parametrize("job", TRAFFIC)
def test_the_order_chosen_is_as_good_as_on_the_plan(both, job):
    planned, found = both
    one, other = choose(planned, *TRAFFIC[job]), choose(found, *TRAFFIC[job])
    assert cost(planned, *TRAFFIC[job], other.order).total_s == pytest.approx(one.cost.total_s, rel=1e-9)
    assert other.bound.proves(other.cost.total_s) == one.bound.proves(one.cost.total_s)


@pytest.mark.parametrize("shape", SHAPES)
def test_links_whose_rates_are_not_told_are_said_not_to_be_counted(shape):
    hierarchy = found_in(re.sub(rb" 4xSDR", b"", netlist(plan_of(made(**SHAPES[shape]))).encode()))
    tiers = tiers_of(hierarchy, 400e9, np.inf)
    assert tiers.pair_Bps is None and tiers.ways is None
    assert "not counted" in uncounted(hierarchy, tiers)


def test_groups_that_meet_in_spines_need_no_word():
    hierarchy = found_in(told(made(topology="fat-tree")))
    assert hierarchy.pair_Bps is None and uncounted(hierarchy, tiers_of(hierarchy, 400e9, np.inf)) == ""


def test_what_is_not_counted_is_said_behind_the_bound():
    """The words go from the ground to the bound of the placement, which ``place`` prints."""
    fabric = made(**SHAPES["dragonfly"])
    hierarchy = found_in(told(fabric, "")).only(fabric.hosts)
    tiers = tiers_of(hierarchy, 400e9, np.inf)
    pool = SimpleNamespace(hosts=fabric.hosts, down=frozenset(), spares=0)
    choice = choose(tiers, *TRAFFIC["rings"])
    job = SimpleNamespace(name="job", spec=SimpleNamespace(gpus_per_node=8), grid=TRAFFIC["rings"][0], traffic=TRAFFIC["rings"][1])
    placement = placement_on(Ground(hierarchy.hosts, tiers, {}, uncounted(hierarchy, tiers)), pool, job, choice)
    assert placement.proved and placement.bound.why.endswith("these links are not counted")
