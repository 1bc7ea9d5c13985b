"""Rules of the fabric design that no size of a single fabric shows: what a plan decides before it stands, and what equal answers are told by."""

from collections import Counter
from types import SimpleNamespace

import pytest

from iacgen import catalog
from iacgen.blueprint import parse
from iacgen.design import design
from iacgen.design.fabric.choose import choose
from iacgen.design.facility.cables import unfit


def designed(nodes, connects=("gpu",), **fabric):
    data = {
        "kind": "Cluster", "schema": 1, "name": "t", "sites": {"hall": {"kind": "on-prem"}},
        "nodes": {name: {"site": "hall"} | pool for name, pool in nodes.items()},
        "fabrics": {"net": {"site": "hall", "purpose": "compute", "connects": list(connects), "technology": "infiniband", "switch": "qm9700"} | fabric},
    }  # fmt: skip
    blueprint, findings = parse(data)
    assert not findings
    made, findings = design(blueprint)
    assert made, findings
    return made


@pytest.mark.parametrize(("group", "between"), [({"hosts": 8, "leaves": 2, "links": 6}, 3), ({"hosts": 8, "leaves": 2, "links": 2}, 1), ({"hosts": 8, "leaves": 2, "spines": 4, "links": 4}, 4)])
def test_the_links_of_a_dragonfly_are_divided_among_all_groups_that_are_planned(group, between):
    """Ten hosts, one a leaf: five groups of two leaves, so that a group divides its links among four others; three groups stand."""
    topology = "dragonfly-plus" if "spines" in group else "dragonfly"
    small, full = (designed({"gpu": {"system": "dgx-h100", "count": n, "grow_to": 10}}, topology=topology, group=group).fabrics["net"] for n in (6, 10))
    assert (len(small.pods), len(full.pods)) == (3, 5)
    assert small.cables.across == 3 * between and full.cables.across == 10 * between
    assert {*small.wiring()} < {*full.wiring()}


@pytest.mark.parametrize("spines", [{}, {"spines": 4}])
def test_links_between_two_groups_can_be_fewer_than_there_are_ports_for(spines):
    """Nine groups of four leaves with 16 links each to others: 64 / 8 = 8 would lead to each, 4 are asked for."""
    topology, group = "dragonfly-plus" if spines else "dragonfly", {"hosts": 8, "leaves": 4, "links": 16, **spines}
    all_of_them, four = (designed({"gpu": {"system": "dgx-h100", "count": 36}}, topology=topology, group=g).fabrics["net"] for g in (group, group | {"between": 4}))
    assert (all_of_them.trunks.between, four.trunks.between) == (8, 4)
    across = Counter(frozenset(end.rpartition("-")[0] for end in (c.a, c.b)) for c in four.wiring() if c.joins == "group-group")
    assert set(across.values()) == {4} and len(across) == 9 * 8 // 2 and four.cables.across == 4 * 36


def test_links_between_two_groups_limit_how_many_there_can_be():
    """64 links of a group, 16 to each other one: five groups. Without ``links`` a group gets as many as that takes."""
    asked = {"hosts": 8, "leaves": 4, "between": 16}
    with pytest.raises(AssertionError, match="24 leaves make 6 groups of 4, and 16 lin"):
        designed({"gpu": {"system": "dgx-h100", "count": 24}}, topology="dragonfly", group=asked | {"links": 16})
    assert designed({"gpu": {"system": "dgx-h100", "count": 20}}, topology="dragonfly", group=asked | {"links": 16}).fabrics["net"].trunks.between == 16
    made = designed({"gpu": {"system": "dgx-h100", "count": 100}}, topology="dragonfly", group={"between": 2}).fabrics["net"].trunks
    assert made.between == 2 and (made.planned - 1) * 2 <= made.ends * made.reach


def test_addresses_of_one_pool_stay_where_another_grows():
    """Within what the digits of its names can count, whether or not that was planned."""
    def first(count):
        nodes = {"gpu": {"system": "dgx-h100", "count": count, "width": 4}, "oss": {"system": "lustre-oss", "count": 2}}
        made = designed(nodes, ("gpu", "oss"), purpose="storage", topology="fat-tree")
        return made.fabrics["net"].address("oss", 0), made.fabrics["net"].address("gpu", 1, rail=1)

    assert first(4) == first(40) == first(400)


def test_of_equal_switches_one_of_the_adapters_vendor_is_taken():
    """Whichever comes first by its name."""
    def ask(switch, **_):
        shape = SimpleNamespace(groups=(SimpleNamespace(leaves=("leaf1",)),), spines=(), cores=())
        return SimpleNamespace(link_gbps={"gpu": 400}, switch=switch, above=switch), shape

    switches = [SimpleNamespace(id=name, vendor=vendor, rack_units=1) for name, vendor in (("a", "one"), ("b", "two"), ("c", "three"))]
    for vendor, taken in (("one", "a"), ("two", "b"), ("three", "c"), ("four", "a")):
        request, _ = choose(ask, switches, {vendor})
        assert request.switch.id == taken


@pytest.mark.parametrize(
    ("worse", "better"),
    [
        ({"gbps": 200, "leaves": 1}, {"gbps": 400, "leaves": 9}),  # speed before all
        ({"spines": 1, "leaves": 1}, {"leaves": 9}),  # then tiers
        ({"leaves": 3, "units": 1}, {"leaves": 2, "units": 4}),  # then switches
        ({"leaves": 2, "units": 2}, {"leaves": 2, "units": 1}),  # then rack units
    ],
)
def test_the_order_of_what_decides(worse, better):
    """The one that is worse has the adapters' vendor and the first name: both come last."""
    answers = {"a": worse, "b": better}

    def ask(switch, **_):
        size = {"gbps": 400, "leaves": 1, "spines": 0} | answers[switch.id]
        shape = SimpleNamespace(groups=(SimpleNamespace(leaves=("leaf",) * size["leaves"]),), spines=("spine",) * size["spines"], cores=())
        return SimpleNamespace(link_gbps={"gpu": size["gbps"]}, switch=switch, above=switch), shape

    switches = [SimpleNamespace(id=name, vendor=name, rack_units=size.get("units", 1)) for name, size in answers.items()]
    assert choose(ask, switches, {"a"})[0].switch.id == "b"


@pytest.mark.parametrize("topology", ["dragonfly", "dragonfly-plus"])
@pytest.mark.parametrize(("count", "grow_to"), [(1, 1), (12, 16), (17, 40), (3, 200), (500, 500)])
def test_a_dragonfly_by_default_is_the_balanced_one_of_fewest_switches(topology, count, grow_to):
    """Against every balanced size that 64 ports allow: p, 2p routers, p links; or n hosts, n spines, n leaves and n links."""
    pool = {"gpu": {"system": "dgx-h100", "count": count, "grow_to": grow_to}}
    made = designed(pool, topology=topology).fabrics["net"]

    def switches(n):
        on_leaf, leaves, spines = n // 8, 2 * n if topology == "dragonfly" else n, 0 if topology == "dragonfly" else n
        groups = -(--(-grow_to // on_leaf) // leaves)
        return groups * (leaves + spines) if groups <= (spines or leaves) * n + 1 else None

    largest = 16 if topology == "dragonfly" else 32  # 16 + 31 + 16 ports, and 32 + 32
    fewest = min(filter(None, map(switches, range(8, largest + 1))))
    planned = len(made.pods) and made.growth.planned * len(made.switch_names) // made.growth.built
    assert planned == fewest
    group = made.trunks
    assert group.leaves == (2 * group.hosts if topology == "dragonfly" else group.hosts) and group.reach == group.hosts
    assert {*designed({"gpu": {"system": "dgx-h100", "count": grow_to, "grow_to": grow_to}}, topology=topology).fabrics["net"].wiring()} >= {*made.wiring()}


def test_what_is_asked_of_a_group_balances_the_rest():
    nodes = {"gpu": {"system": "dgx-h100", "count": 40}}
    for asked, sizes in (({"hosts": 8}, (8, 16, 0, 8)), ({"leaves": 32}, (16, 32, 0, 16)), ({"links": 10}, (10, 20, 0, 10)), ({"leaves": 4, "links": 3}, (8, 4, 0, 3))):
        made = designed(nodes, topology="dragonfly", group=asked).fabrics["net"].trunks
        assert (made.hosts, made.leaves, made.spines, made.reach) == sizes, asked


@pytest.mark.parametrize(
    ("system", "switch", "technology", "links"),
    [
        ("dgx-a100", "qm9700", "infiniband", 2),  # QSFP56: four lanes of 50 Gb/s; NVIDIA MCP7Y60, one cage to two QSFP56 of 200G
        ("dgx-a100", "sn5600", "roce", 2),
        ("dgx-a100", "qm8700", "infiniband", 1),  # a cage of the same form
        ("dgx-h100", "qm9700", "infiniband", 2),  # 400G by four lanes of 100 Gb/s
    ],
)
def test_a_cage_has_as_many_links_as_the_lanes_of_the_adapter_leave(system, switch, technology, links):
    made = designed({"gpu": {"system": system, "count": 4}}, technology=technology, switch=switch).fabrics["net"]
    model = made.tiers[0].switch
    assert model.shares(made.link_gbps["gpu"]) == links and model.ports(made.link_gbps["gpu"]) == links * model.cages
    assert not unfit(made)


def test_links_of_two_lanes_keep_four_to_a_cage():
    """ConnectX-7 of 200 Gb/s in QSFP112: two lanes of 100 Gb/s; NVIDIA MCP7Y40, one cage to four QSFP112 of 200G."""
    model = catalog.switch("qm9700")
    assert model.towards(200, "qsfp112") == model and model.towards(200, "osfp") == model
    assert model.towards(200, "qsfp56").ports_by_gbps == {400: 64, 200: 64}
    assert catalog.switch("sn5600").towards(100, "qsfp28").ports(100) == 128  # four lanes of 25 Gb/s
    assert catalog.switch("sn5600").towards(100, "qsfp56").ports(100) == 256  # two of 50
    assert 200 not in catalog.switch("sn5600").towards(200, "qsfp56").sonic.hwsku
