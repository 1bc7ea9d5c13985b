"""Every fabric of every size: no port twice, none above the radix, equal links, bandwidth as promised; growth moves nothing."""

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iacgen.blueprint import parse
from iacgen.design import design
from iacgen.design.fabric import wiring
from iacgen.design.fabric.sizing import equal_links, up_for


def blueprint(count=8, unit=4, numbering="by-unit", oversubscription=1.0, topology="rail-fat-tree", manager="", managers=2, system="dgx-h100", purpose="compute"):
    fabric = {"site": "hall", "purpose": purpose, "connects": ["gpu"], "technology": "infiniband", "topology": topology, "switch": "qm9700", "numbering": numbering, "oversubscription": oversubscription}
    if topology == "rail-fat-tree":
        fabric["unit"] = unit
    if manager:
        fabric["manager"] = {"kind": manager, "pool": "ufm"}
    data = {
        "kind": "Cluster", "schema": 1, "name": "t", "sites": {"hall": {"kind": "on-prem"}},
        "nodes": {"gpu": {"site": "hall", "system": system, "count": count}, "ufm": {"site": "hall", "system": "generic-1u", "count": managers}},
        "fabrics": {"compute": fabric},
    }  # fmt: skip
    parsed, findings = parse(data)
    assert not findings
    return parsed


def fabric(**wanted):
    designed, findings = design(blueprint(**wanted))
    assert designed, findings
    return designed.fabrics["compute"]


shapes = st.fixed_dictionaries(
    {
        "count": st.integers(1, 260),
        "unit": st.integers(1, 32),
        "numbering": st.sampled_from(["by-unit", "round-robin"]),
        "oversubscription": st.sampled_from([1.0, 1.5, 2.0, 4.0]),
        "topology": st.sampled_from(["rail-fat-tree", "fat-tree"]),
        "manager": st.sampled_from(["", "ufm", "opensm"]),
        "managers": st.integers(1, 3),
    }
)


@given(shapes)
@settings(max_examples=60, deadline=None)
def test_invariants(wanted):
    designed, findings = design(blueprint(**wanted))
    if designed is None:
        assert [f.id for f in findings] == ["IAC211"]
        return
    made = designed.fabrics["compute"]
    graph = wiring.graph(made)
    ports = [(end, port) for *_, data in graph.edges(data=True) for end, port in data["ports"].items()]
    assert len(ports) == len(set(ports))
    assert all(int(port) <= 64 for end, port in ports if end.startswith("compute-"))
    assert sorted(h for g in made.groups for h in g.hosts) == list(designed.pools["gpu"].hosts)
    assert {d for n, d in graph.degree(designed.pools["gpu"].hosts)} == {8}
    assert graph.number_of_edges() == made.cables.total
    assert made.cables.manager == {"": 0, "ufm": 4, "opensm": min(2, wanted["managers"])}[wanted["manager"]]
    if made.spines:
        assert {graph.number_of_edges(leaf, spine) for leaf in made.leaves for spine in made.spines} == {made.uplinks.parallel}
        assert nx.is_connected(graph)
        assert made.oversubscription <= wanted["oversubscription"]


@given(st.integers(1, 300), st.integers(1, 64), st.integers(2, 144))
def test_equal_links_against_brute_force(leaves, uplinks, radix):
    fitting = [s for s in range(1, uplinks + 1) if uplinks % s == 0 and leaves * uplinks / s <= radix]
    found = equal_links(leaves, uplinks, radix, 400)
    assert (found.spines if found else None) == (min(fitting) if fitting else None)


@given(st.integers(1, 64), st.floats(1, 16))
def test_uplinks_carry_what_is_promised(down, oversubscription):
    up = up_for(down, oversubscription)
    assert down / up <= oversubscription * (1 + 1e-9) and (up == 1 or down / (up - 1) > oversubscription * (1 - 1e-9))


def test_round_robin_deals_hosts_over_the_units():
    assert [g.hosts[:2] for g in fabric(count=8, unit=4, numbering="round-robin").groups] == [("gpu0001", "gpu0003"), ("gpu0002", "gpu0004")]


def test_rail_leaf_i_carries_port_i_of_every_host():
    made = fabric(count=62, unit=31, manager="ufm")
    for cable in made.wiring():
        if cable.joins == "host-leaf":
            rail = made.nics["gpu"].rdma_names.index(cable.a_port) + 1
            assert cable.b.endswith(f"-leaf{rail}")


@pytest.mark.parametrize("topology", ["rail-fat-tree", "fat-tree"])
def test_opensm_takes_one_port_of_each_of_its_hosts(topology):
    """On leaves of the last unit, through a port that the catalog names, at the speed of that port."""
    made = fabric(count=62, unit=31, topology=topology, manager="opensm")
    cables = [cable for cable in made.wiring() if cable.joins == "manager-leaf"]
    assert [(c.a, c.a_port, c.gbps) for c in cables] == [("ufm0001", "mlx5_0", 200), ("ufm0002", "mlx5_0", 200)]
    assert {c.b for c in cables} <= set(made.groups[-1].leaves)
    assert fabric(count=64, unit=31, topology=topology, manager="opensm").cables.host == 64 * 8


def test_a_full_unit_has_no_port_for_a_manager():
    designed, findings = design(blueprint(count=64, unit=32, manager="opensm"))
    assert designed is None and [f.path for f in findings] == [("fabrics", "compute", "manager")]
    assert fabric(count=63, unit=32, manager="opensm").cables.manager == 2


@pytest.mark.parametrize("count", [99, 127])
def test_growth_renames_and_readdresses_nobody(count):
    small, _ = design(blueprint(count=8, topology="fat-tree", purpose="storage", system="lustre-oss"))
    big, _ = design(blueprint(count=count, topology="fat-tree", purpose="storage", system="lustre-oss"))
    assert big.pools["gpu"].hosts[:8] == small.pools["gpu"].hosts
    assert [big.address(h, "storage") for h in small.pools["gpu"].hosts] == [small.address(h, "storage") for h in small.pools["gpu"].hosts]


def test_names_do_not_depend_on_the_count():
    pools = [design(parse_count(n))[0].pools["gpu"].hosts for n in (99, 127, 9999)]
    assert pools[0] == pools[1][:99] == pools[2][:99] and pools[2][-1] == "gpu9999"


def parse_count(count):
    parsed, findings = parse({"kind": "Cluster", "schema": 1, "name": "t", "sites": {"hall": {"kind": "on-prem"}}, "nodes": {"gpu": {"site": "hall", "system": "dgx-h100", "count": count}}})
    assert not findings
    return parsed


def test_addresses_are_all_different():
    made, _ = design(blueprint(count=64, unit=32))
    addresses = [made.address(h, "compute", rail) for h in made.pools["gpu"].hosts for rail in range(8)]
    assert len(set(addresses)) == 64 * 8
