"""Every fabric of every size: no port twice, none above the radix, equal links, bandwidth as promised; growth moves nothing."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iacgen import catalog
from iacgen.blueprint import parse
from iacgen.design import design
from iacgen.design.fabric import wiring
from iacgen.design.fabric.sizing import pod_size, spines_for, up_for

RADIX = 64  # QM9700 at 400 Gb/s


def blueprint(count=8, manager="", managers=2, system="dgx-h100", grow_to=None, **fabric):
    fabric = {"site": "hall", "purpose": "compute", "connects": ["gpu"], "technology": "infiniband", "topology": "rail-fat-tree", "switch": "qm9700"} | fabric
    if manager:
        fabric["manager"] = {"kind": manager, "pool": "ufm"}
    data = {
        "kind": "Cluster", "schema": 1, "name": "t", "sites": {"hall": {"kind": "on-prem"}},
        "nodes": {"gpu": {"site": "hall", "system": system, "count": count, **({"grow_to": grow_to} if grow_to else {})}, "ufm": {"site": "hall", "system": "generic-1u", "count": managers}},
        "fabrics": {"compute": fabric},
    }  # fmt: skip
    parsed, findings = parse(data)
    assert not findings
    return parsed


def fabric(**wanted):
    designed, findings = design(blueprint(**wanted))
    assert designed, findings
    return designed.fabrics["compute"]


def ends_of(made):
    """(device, port) of both ends of every link, by name."""
    return [end for c in made.wiring() for end in ((c.a, c.a_port), (c.b, c.b_port))]


trees = st.fixed_dictionaries(
    {
        "count": st.integers(1, 260),
        "unit": st.integers(1, 32),
        "numbering": st.sampled_from(["by-unit", "round-robin"]),
        "oversubscription": st.sampled_from([1.0, 1.5, 2.0, 4.0]),
        "topology": st.sampled_from(["rail-fat-tree", "fat-tree", "rail-only"]),
        "manager": st.sampled_from(["", "ufm", "opensm"]),
        "managers": st.integers(1, 3),
        "tiers": st.sampled_from([None, 2, 3]),
        "spine_oversubscription": st.sampled_from([1.0, 2.0]),
        "cores": st.sampled_from(["contention-free", "fewest"]),
        "rail_groups": st.booleans(),
    }
)


@given(trees)
@settings(max_examples=120, deadline=None)
def test_invariants_of_trees(wanted):
    if wanted["topology"] == "fat-tree":
        wanted = wanted | {"unit": None, "rail_groups": False}
    designed, findings = design(blueprint(**wanted))
    if designed is None:
        assert [f.id for f in findings] == ["IAC211"]
        return
    made = designed.fabrics["compute"]
    holds(made, designed.pools["gpu"].hosts)
    assert made.cables.manager == {"": 0, "ufm": min(4, 2 * min(2, wanted["managers"])), "opensm": min(2, wanted["managers"])}[wanted["manager"]]
    assert made.oversubscription <= wanted["oversubscription"] or made.trunks is None
    for found in made.links():
        if found.joins not in ("leaf-spine", "spine-core"):
            continue
        pairs, links = np.unique(np.stack([found.a, found.b]), axis=1, return_counts=True)
        if found.joins == "leaf-spine" or wanted["cores"] == "contention-free":
            assert len(set(links.tolist())) == 1, "unequal links"
        spread = np.unique(np.unique(pairs[0], return_counts=True)[1])
        assert len(spread) == 1 or wanted["cores"] == "fewest"
    if made.cores:
        up = np.bincount(next(f for f in made.links() if f.joins == "spine-core").a)
        down = np.bincount(next(f for f in made.links() if f.joins == "leaf-spine").b)
        assert (up[up > 0].min() * wanted["spine_oversubscription"] >= down.max()) and up[up > 0].min() == up.max()


def holds(made, hosts):
    """No port twice, none above the radix, as many cables as counted, every host on it."""
    ends = ends_of(made)
    assert len(ends) == len(set(ends))
    switches = set(made.switch_names)
    assert all(1 <= int(port) <= RADIX for device, port in ends if device in switches)
    assert sorted(made.hosts) == list(hosts)
    assert len(ends) == 2 * made.cables.total
    graph = wiring.graph(made)
    assert sum(links for *_, links in graph.edges(data="links")) == made.cables.total
    assert {sum(d["links"] for *_, d in graph.edges(host, data=True)) for host in hosts} == {made.nics["gpu"].count}
    apart = made.topology == "rail-only" or (getattr(made.trunks, "apart", 1) > 1 and not made.cores)
    switched = graph.subgraph(switches)
    assert nx.number_connected_components(switched) == (made.nics["gpu"].count if apart else 1)


@given(
    count=st.integers(1, 80), topology=st.sampled_from(["dragonfly", "dragonfly-plus"]),
    hosts=st.sampled_from([None, 8, 12, 16]), leaves=st.sampled_from([None, 2, 5, 8]), spines=st.sampled_from([None, 4]), links=st.sampled_from([None, 1, 3, 6]),
)  # fmt: skip
@settings(max_examples=80, deadline=None)
def test_invariants_of_dragonflies(count, topology, **sizes):
    group = {name: n for name, n in sizes.items() if n}
    designed, findings = design(blueprint(count=count, topology=topology, group=group))
    if designed is None:
        assert [f.id for f in findings] == ["IAC211"]
        return
    made = designed.fabrics["compute"]
    holds(made, designed.pools["gpu"].hosts)
    if len(made.pods) > 1:
        across = next(found for found in made.links() if found.joins == "group-group")
        group_of = {name: i for i, pod in enumerate(made.pods) for name in made.switch_names if name.startswith(f"{pod.name}-")}
        pairs = [tuple(sorted((group_of[made.switch_names[a]], group_of[made.switch_names[b]]))) for a, b in zip(across.a, across.b, strict=True)]
        counts = {pair: pairs.count(pair) for pair in set(pairs)}
        assert len(counts) == len(made.pods) * (len(made.pods) - 1) // 2 and len(set(counts.values())) == 1


def test_the_dragonflies_of_the_paper():
    """Kim et al. (ISCA 2008), figure 5: p = h = 2, a = 4, nine groups, 72 terminals; every two groups joined by one link."""
    made = fabric(count=9, system="dgx-h100", topology="dragonfly", group={"hosts": 8, "leaves": 1, "links": 8})
    assert len(made.pods) == 9 and made.cables.across == 36
    assert len(fabric(count=72, topology="dragonfly", group={"hosts": 8, "leaves": 8, "links": 1}).pods) == 9


@given(st.integers(1, 300), st.integers(1, 64), st.integers(2, 144))
def test_equal_links_against_brute_force(leaves, uplinks, radix):
    fitting = [s for s in range(1, uplinks + 1) if uplinks % s == 0 and leaves * uplinks / s <= radix]
    assert spines_for(leaves, uplinks, radix) == (min(fitting) if fitting else None)


@given(st.integers(1, 64), st.floats(1, 16))
def test_uplinks_carry_what_is_promised(down, oversubscription):
    up = up_for(down, oversubscription)
    assert down / up <= oversubscription * (1 + 1e-9) and (up == 1 or down / (up - 1) > oversubscription * (1 - 1e-9))


@pytest.mark.parametrize(("pods", "leaves", "cores"), [(2, 8, 8), (3, 8, 16), (4, 8, 16), (8, 8, 32), (16, 8, 64), (3, 6, 16), (3, 4, 8)])
def test_cores_of_sixteen_port_trees(pods, leaves, cores):
    """Core counts of three-tier trees whose shift permutations OpenSM's ftree routes without contention (measured on ibsim)."""
    size = pod_size(leaves, 8, pods, 16, 1.0)
    assert size.cores == cores and size.core_parallel * pods <= 16


@given(units=st.integers(1, 8), unit=st.integers(1, 32), spines=st.integers(1, 24), topology=st.sampled_from(["rail-fat-tree", "fat-tree"]))
@settings(max_examples=60, deadline=None)
def test_a_rotating_split_fills_all_spines_alike(units, unit, spines, topology):
    """Level spines, pairs that differ by one link at most, and no port twice; else a refusal that names the key."""
    wanted = {"count": units * unit, "split": "rotating", "spines": spines, "topology": topology, "unit": unit if topology == "rail-fat-tree" else None}
    designed, findings = design(blueprint(**wanted))
    if designed is None:
        assert [f.path[-1] for f in findings] in (["spines"], ["split"], ["unit"])
        return
    made = designed.fabrics["compute"]
    ends = ends_of(made)
    assert len(ends) == len(set(ends)) and all(1 <= int(port) <= RADIX for device, port in ends if device in made.switch_names)
    if made.spines:
        (found,) = made.trunks.links()
        used = np.bincount(found.b)[len(made.leaves) :]
        pairs = np.unique(np.stack([found.a, found.b]), axis=1, return_counts=True)[1]
        assert used.min() == used.max() and pairs.max() - pairs.min() <= 1


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
    """On leaves of the first unit, through a port that the catalog names, at the speed of that port."""
    made = fabric(count=62, unit=31 if topology == "rail-fat-tree" else None, topology=topology, manager="opensm")
    cables = [cable for cable in made.wiring() if cable.joins == "manager-leaf"]
    assert [(c.a, c.a_port, c.gbps) for c in cables] == [("ufm0001", "mlx5_0", 200), ("ufm0002", "mlx5_0", 200)]
    assert {c.b for c in cables} <= set(made.groups[0].leaves)
    assert fabric(count=64, unit=31 if topology == "rail-fat-tree" else None, topology=topology, manager="opensm").cables.host == 64 * 8


def test_a_full_unit_has_no_port_for_a_manager():
    designed, findings = design(blueprint(count=64, unit=32, manager="opensm"))
    assert designed is None and [f.path for f in findings] == [("fabrics", "compute", "manager")]
    assert fabric(count=63, unit=32, manager="opensm").cables.manager == 2


@given(
    st.fixed_dictionaries({"topology": st.sampled_from(["rail-fat-tree", "fat-tree", "rail-only", "dragonfly", "dragonfly-plus"]), "manager": st.sampled_from(["", "ufm"]), "tiers": st.sampled_from([None, 3]), "numbering": st.sampled_from(["by-unit", "round-robin"])}),
    st.integers(1, 90), st.integers(0, 40), st.integers(0, 40),
)  # fmt: skip
@settings(max_examples=80, deadline=None)
def test_growth_up_to_what_is_planned_moves_no_cable(wanted, count, more, spare):
    if wanted["topology"].startswith("dragonfly") or wanted["topology"] == "rail-only":
        wanted = wanted | {"tiers": None}
    if wanted["topology"] == "rail-fat-tree":
        wanted = wanted | {"unit": 8}
    grow_to = count + more + spare
    small, findings = design(blueprint(count=count, grow_to=grow_to, **wanted))
    big, more_findings = design(blueprint(count=count + more, grow_to=grow_to, **wanted))
    if small is None or big is None:
        assert {f.id for f in (*findings, *more_findings)} == {"IAC211"}
        return
    assert set(small.fabrics["compute"].wiring()) <= set(big.fabrics["compute"].wiring())
    assert set(small.fabrics["compute"].switch_names) <= set(big.fabrics["compute"].switch_names)


def test_growth_of_one_pool_moves_no_cable_of_another():
    def wired(count):
        data = {
            "kind": "Cluster", "schema": 1, "name": "t", "sites": {"hall": {"kind": "on-prem"}},
            "nodes": {"gpu": {"site": "hall", "system": "dgx-h100", "count": count, "grow_to": 100}, "oss": {"site": "hall", "system": "lustre-oss", "count": 8}},
            "fabrics": {"storage": {"site": "hall", "purpose": "storage", "connects": ["gpu", "oss"], "technology": "infiniband", "switch": "qm9700"}},
        }  # fmt: skip
        parsed, findings = parse(data)
        assert not findings
        return set(design(parsed)[0].fabrics["storage"].wiring())

    assert wired(40) < wired(99)


@pytest.mark.parametrize(("count", "unit", "most"), [(32, 32, 1), (64, 32, 2), (90, 32, 4), (127, 32, 4)])
def test_the_limit_of_growth_is_the_last_size_that_moves_nothing(count, unit, most):
    """As stated by the design, and as found by wiring one unit more."""
    made = fabric(count=count, unit=unit)
    assert made.growth.most == most
    at = set(made.wiring())
    assert at <= set(fabric(count=most * unit, unit=unit).wiring())
    assert not at <= set(fabric(count=(most + 1) * unit, unit=unit).wiring())


def test_98304_gpus():
    """128-port switches carry them in three tiers at 1:1; 64-port ones carry 65,536 (k^3/4), and the refusal says so."""
    asked = {"count": 12288, "system": "dgx-h100", "technology": "roce", "switch": "sn5600", "unit": 64, "grow_to": None}
    made = fabric(**asked)
    assert (len(made.leaves), len(made.spines), len(made.tiers)) == (1536, 1536, 3)
    assert made.cables.host == made.cables.leaf_spine == made.cables.spine_core == 98304
    designed, (refusal,) = design(blueprint(**asked | {"technology": "infiniband", "switch": "qm9700", "unit": 32}))
    assert designed is None and refusal.path == ("fabrics", "compute", "switch") and "65,536" in refusal.message
    for near in ({"oversubscription": 4.0, "unit": None}, {"topology": "dragonfly-plus", "unit": None}, {"count": 8192}):
        assert fabric(**asked | {"technology": "infiniband", "switch": "qm9700", "unit": 32} | near).cables.host >= 65536
    assert "oversubscription 3" in refusal.help and "topology dragonfly-plus" in refusal.help


def test_a_fabric_without_a_switch_gets_the_one_with_which_the_fewest_do():
    made = fabric(count=127, switch=None, unit=32)
    others = [fabric(count=127, switch=s.id, unit=32).switches for s in map(catalog.switch, catalog.ids("switches")) if "infiniband" in s.technologies and s.ports(400)]
    assert made.switches == min(others)


def test_two_planes_are_the_same_network_twice():
    made = fabric(count=64, technology="roce", switch="sn5600", unit=64, planes=2, system="dgx-h100")
    assert {gbps for gbps in made.link_gbps.values()} == {200}
    per_plane = [{(c.a, c.a_port.split("/")[0], c.b.replace(f"plane{p}", "plane"), c.b_port) for c in made.wiring() if f"plane{p}" in c.b and c.joins == "host-leaf"} for p in (1, 2)]
    assert per_plane[0] == per_plane[1] and len(per_plane[0]) == 64 * 8
    assert len(made.leaves) == 16 and made.cables.host == 64 * 8
    graph = wiring.graph(made)
    assert nx.number_connected_components(graph.subgraph(made.switch_names)) == 2


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


@pytest.fixture
def one_port(monkeypatch):
    """Systems with one compute port each, as in the literature on dragonflies."""
    known = catalog.system

    def system(name):
        found = known(name)
        port = found.nics["compute"].model_copy(update={"count": 1, "rdma_names": ("mlx5_0",), "interfaces": ("ib0",)}) if "compute" in found.nics else None
        return found.model_copy(update={"nics": found.nics | {"compute": port}}) if port else found

    monkeypatch.setattr(catalog, "system", system)


def test_scattered_ranks_of_a_dragonfly_share_a_link_less(one_port):
    """1,056 hosts, p = 4, a = 8, h = 4: with one link between two groups, hosts side by side put 32 flows of a shift on it; the order
    for all-to-all at most 7, counted here over all shifts."""
    made = fabric(count=1056, topology="dragonfly", group={"hosts": 4, "leaves": 8, "links": 4})
    group_of = {host: i // 32 for i, host in enumerate(made.hosts)}

    def worst(order):
        at = np.array([group_of[name] for name in order])
        flows = 0
        for shift in range(1, len(at)):
            to = np.roll(at, -shift)
            flows = max(flows, np.bincount((at * 33 + to)[at != to], minlength=1).max(initial=0))
        return flows

    assert worst(made.hosts) == 32 and worst(made.rank_order) <= 7
    assert sorted(made.rank_order) == sorted(made.hosts)


@pytest.mark.parametrize("count", [40, 72])
def test_the_scattered_order_hangs_on_cables_and_not_on_names(one_port, count):
    """The same places for pools of any name, which decide nothing on the routes."""
    orders = set()
    for pool in ("gpu", "node", "x"):
        data = {
            "kind": "Cluster", "schema": 1, "name": "t", "sites": {"hall": {"kind": "on-prem"}}, "nodes": {pool: {"site": "hall", "system": "dgx-h100", "count": count}},
            "fabrics": {"any": {"site": "hall", "purpose": "compute", "connects": [pool], "technology": "infiniband", "switch": "qm9700", "topology": "dragonfly", "group": {"hosts": 2, "leaves": 4, "links": 2}}},
        }  # fmt: skip
        made = design(parse(data)[0])[0].fabrics["any"]
        places = {host: i for i, host in enumerate(made.hosts)}
        orders.add(tuple(places[host] for host in made.rank_order))
    (order,) = orders
    assert sorted(order) == list(range(count)) and list(order) != sorted(order)
