"""The links of planned dragonflies one by one, against the cables of the same fabric, walked by name."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from iacgen.blueprint import parse
from iacgen.design import design
from iacgen.placement.choice import choose
from iacgen.placement.cost import cost
from iacgen.placement.tiers import of_fabric
from iacgen.placement.ways import of_fabric as ways_of
from iacgen.training.traffic import NodeGrid, Traffic

SHAPES = {
    "dragonfly": {"topology": "dragonfly", "group": {"hosts": 16, "leaves": 4, "links": 2}},
    "two links between two groups": {"topology": "dragonfly", "group": {"hosts": 16, "leaves": 4, "links": 4}},
    "dragonfly-plus": {"topology": "dragonfly-plus", "group": {"hosts": 16, "leaves": 4, "spines": 8, "links": 2}},
    "two planes": {"topology": "dragonfly-plus", "group": {"hosts": 16, "leaves": 2, "spines": 4, "links": 4}, "planes": 2},
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


def walked(fabric):
    """(leaf, leaf) → switch to switch → its share of a flow, from the cables of the first plane."""
    links = Counter()
    for cable in fabric.wiring():
        if cable.joins not in ("host-leaf", "manager-leaf"):
            links[cable.a, cable.b] += 1
            links[cable.b, cable.a] += 1
    group = lambda name: name.rsplit("-", 1)[0]  # noqa: E731
    leaves = [leaf for g in fabric.groups for leaf in g.leaves[:1]]
    beside = {leaf: {b for a, b in links if a == leaf and group(b) == group(leaf)} for leaf in leaves}
    out = {}
    for one, two in product(leaves, leaves):
        if one == two:
            continue
        shares = Counter()
        if group(one) != group(two):
            ways = [(a, b) for (a, b), many in links.items() for _ in range(many) if group(a) == group(one) and group(b) == group(two)]
            hops = [[(one, a)] * (a != one) + [(a, b)] + [(b, two)] * (b != two) for a, b in ways]
        elif two in beside[one]:
            hops = [[(one, two)]]
        else:
            hops = [[(one, spine), (spine, two)] for spine in sorted(beside[one])]
        for way in hops:
            shares.update(dict.fromkeys(way, 1 / len(hops)) if len(set(way)) == len(way) else {})
        out[one, two] = shares
    return out


@pytest.mark.parametrize("shape", SHAPES)
def test_ways_are_those_of_the_cables(shape):
    fabric = made(**SHAPES[shape])
    ways, wanted = ways_of(fabric), walked(fabric)
    names = [g.leaves[0] for g in fabric.groups]
    assert ways.leaves == len(names) and (np.diff(ways.pair) >= 0).all()
    found = {pair: Counter() for pair in wanted}
    for pair, link, share in zip(ways.pair.tolist(), ways.link.tolist(), ways.share.tolist(), strict=True):
        one, two = divmod(pair, ways.leaves)
        found[names[one], names[two]][ways.ends[link]] += share
    assert found.keys() == wanted.keys() and len(fabric.pods) > 2
    for pair, shares in wanted.items():
        assert found[pair] == pytest.approx(shares), pair


def test_a_ring_over_two_routers_takes_their_one_link():
    """Hosts of two routers in turn: each router sends two hosts' bytes over one link of 400 Gb/s, of 24 and more that leave it."""
    fabric = made(**SHAPES["dragonfly"])
    tiers = of_fabric(fabric, "gpu", fabric.hosts[:4])
    (dp,) = cost(tiers, NodeGrid(1, 4, 1), Traffic(50e9, 0.0, 0.0, 0.0, False), np.array([0, 2, 1, 3])).families
    assert (dp.congestion_s, dp.busiest) == (pytest.approx(2.0), "compute-g1-leaf1 to compute-g1-leaf2")


@pytest.mark.parametrize("fabric", [{"topology": "fat-tree"}, {"topology": "dragonfly", "group": {"hosts": 32, "leaves": 16, "links": 16}}])
def test_a_tree_and_a_single_group_have_none(fabric):
    assert ways_of(made(**fabric)) is None


def test_routers_of_a_single_group_are_joined_by_one_link():
    """Hosts of two routers in turn, four on each: four hosts' bytes go over one link of 400 Gb/s each way."""
    fabric = made(topology="dragonfly", group={"hosts": 32, "leaves": 16, "links": 16})
    tiers = of_fabric(fabric, "gpu", fabric.hosts[:8])
    assert tiers.labels[0].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    (dp,) = cost(tiers, NodeGrid(1, 8, 1), Traffic(50e9, 0.0, 0.0, 0.0, False), np.array([0, 4, 1, 5, 2, 6, 3, 7])).families
    assert (dp.congestion_s, dp.busiest) == (pytest.approx(4.0), "compute-g1-leaf1 to compute-g1-leaf2")


def test_neighbours_go_to_other_groups_where_routers_of_a_group_share_one_link():
    """Two groups of 32 routers of two hosts, 512 links between them: a ring that stays in a group sends eight adapters over one link."""
    fabric = made(count=127, topology="dragonfly", group={"hosts": 16, "leaves": 32, "links": 16})
    hosts = fabric.hosts
    tiers, grid, traffic = of_fabric(fabric, "gpu", hosts), NodeGrid(1, 32, 1), Traffic(100e9, 0.0, 0.0, 0.0, False)
    assert len(fabric.pods) == 2 and len(fabric.groups[0].hosts) <= 2
    chosen = choose(tiers, grid, traffic)
    groups = tiers.labels[-1][chosen.order]
    assert (groups != np.roll(groups, 1)).all()
    assert chosen.bound.proves(chosen.cost.total_s)
    assert chosen.by_name.total_s > 4 * chosen.cost.total_s


@pytest.mark.parametrize("shape", SHAPES)
def test_the_least_share_of_a_link_is_that_of_the_best_two_leaves(shape):
    fabric = made(**SHAPES[shape])
    tiers, wanted = of_fabric(fabric, "gpu", fabric.hosts), walked(fabric)
    group = {leaf: leaf.rsplit("-", 1)[0] for leaf, _ in wanted}
    within, across = (min(max(shares.values()) for (a, b), shares in wanted.items() if (group[a] == group[b]) is same and used(fabric, a) and used(fabric, b)) for same in (True, False))
    assert tiers.ways.least(tiers.labels[0], tiers.labels[-1]) == pytest.approx((within, across))


def used(fabric, leaf):
    return any(leaf in group.leaves and group.hosts for group in fabric.groups)
