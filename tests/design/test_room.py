"""How far a fabric grows before a cable moves: as the design says, and as found by wiring one host more after the other."""

import time

import pytest

from iacgen import catalog
from iacgen.blueprint import parse
from iacgen.design import design
from iacgen.design.fabric.growth import moves

RAILS, PLAIN = {"topology": "rail-fat-tree"}, {"topology": "fat-tree"}


def designed(counts, grow_to=None, **fabric):
    """Pools of DGX nodes, CPU machines and storage servers of these counts, on one fabric; None where it is refused."""
    systems = {"gpu": "dgx-h100", "pcie": "pcie-h100", "cpu": "generic-1u"}
    nodes = {name: {"site": "hall", "system": systems[name], "count": count, "width": 4} for name, count in counts.items()}
    if grow_to:
        nodes["gpu"]["grow_to"] = grow_to
    data = {
        "kind": "Cluster", "schema": 1, "name": "t", "sites": {"hall": {"kind": "on-prem"}}, "nodes": nodes,
        "fabrics": {"net": {"site": "hall", "purpose": "compute", "connects": [*nodes], "technology": "infiniband", "switch": "qm9700", **fabric}},
    }  # fmt: skip
    blueprint, findings = parse(data)
    assert not findings, findings
    return design(blueprint)[0]


def found(counts, pool, grow_to=None, most=600, **fabric):
    """The most hosts of a pool that can be reached one by one while every cable of the step before stays; wired, not reasoned."""
    before = designed({**counts, pool: max(counts[pool], grow_to or 0) if pool == "gpu" else counts[pool]}, None, **fabric)
    count = before.pools[pool].count
    while count < most:
        after = designed({**counts, pool: count + 1}, None, **fabric)
        if after is None or moves(before.fabrics["net"], after.fabrics["net"]).disturbs:
            return count
        count, before = count + 1, after
    return count


@pytest.mark.parametrize(
    ("radix", "counts", "wanted"),
    [
        (64, {"gpu": 20}, {**RAILS, "unit": 32}),  # one unit that has room, and nothing beyond it
        (64, {"gpu": 20}, {**RAILS, "unit": 16}),
        (16, {"gpu": 3}, {**RAILS, "unit": 8, "oversubscription": 1}),
        (16, {"gpu": 5}, {**RAILS, "unit": 4}),
        (16, {"gpu": 13}, {**RAILS, "unit": 4, "tiers": 3}),
        (16, {"gpu": 13}, {**RAILS, "unit": 4, "tiers": 3, "pod": 1}),
        (32, {"gpu": 70}, {**RAILS, "unit": 8}),  # pods of two units: a third pod takes no unit of the others
        (64, {"gpu": 300}, {**RAILS, "unit": 32}),  # the third of pods of four units
        (64, {"gpu": 200}, {**RAILS, "unit": 16, "tiers": 3}),  # pods of eight units, dealt anew when there is one pod more
        (24, {"gpu": 40}, {**RAILS, "unit": 4, "tiers": 3}),
        (16, {"gpu": 9}, {**PLAIN}),
        (16, {"gpu": 18}, {**PLAIN, "tiers": 3}),
        (16, {"gpu": 18}, {**PLAIN, "tiers": 3, "pod": 3}),
        (16, {"gpu": 18}, {**PLAIN, "tiers": 3, "pod": 3, "cores": "fewest"}),
        (16, {"gpu": 1}, {**PLAIN}),  # a leaf alone: a second one takes ports of it for uplinks
        (32, {"gpu": 1}, {**PLAIN}),
        (64, {"gpu": 2}, {**PLAIN, "oversubscription": 3}),
        (16, {"gpu": 9}, {**PLAIN, "numbering": "round-robin"}),
        (16, {"gpu": 9}, {**RAILS, "unit": 4, "numbering": "round-robin"}),
        (32, {"gpu": 4}, {"topology": "rail-only"}),
        (32, {"gpu": 1}, {"topology": "dragonfly", "group": {"hosts": 8, "leaves": 2, "links": 4}}),  # one group, to which nothing leads yet
        (32, {"gpu": 5}, {"topology": "dragonfly", "group": {"hosts": 8, "leaves": 2, "links": 4}}),
        (32, {"gpu": 3}, {"topology": "dragonfly-plus", "group": {"hosts": 8, "leaves": 2, "spines": 4, "links": 3}}),
    ],
)
def test_the_room_of_a_fabric_is_where_wiring_one_more_moves_a_cable(monkeypatch, radix, counts, wanted):
    known = catalog.switch
    monkeypatch.setattr(catalog, "switch", lambda name: known(name).model_copy(update={"ports_by_gbps": {400: radix}}))
    made = designed(counts, **wanted)
    assert made is not None
    told = made.room["net"]["gpu"]
    assert counts["gpu"] <= told == found(counts, "gpu", **wanted)


@pytest.mark.parametrize("unit", [8, 16])
def test_a_planned_fabric_has_at_least_the_room_that_is_planned(unit):
    """And what it says beyond is found by wiring, too."""
    made = designed({"gpu": 11}, grow_to=50, **RAILS, unit=unit)
    assert made.room["net"]["gpu"] == found({"gpu": 11}, "gpu", grow_to=50, **RAILS, unit=unit) >= 50


def test_only_the_last_pool_of_a_plain_tree_has_room():
    """Hosts lie in the order of the pools: a node more of the first one is where the second one begins."""
    counts = {"gpu": 5, "pcie": 6, "cpu": 3}
    told = designed(counts, **PLAIN).room["net"]
    assert told == {pool: found(counts, pool, **PLAIN) for pool in counts}
    assert (told["gpu"], told["pcie"]) == (5, 6) and told["cpu"] > 3


def test_room_is_told_fast_at_64000_gpus():
    """8,000 nodes in three tiers: cables are not expanded, though every step is designed."""
    made = designed({"gpu": 8000}, topology="rail-fat-tree", unit=32, pod=4)
    assert made.fabrics["net"].cores
    began = time.process_time()
    assert made.room["net"]["gpu"] == 8192  # all that 64-port switches carry
    assert time.process_time() - began < 3
