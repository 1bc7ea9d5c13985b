"""A fabric of several subnets: each is a fabric by itself, and together they are the whole, cable by cable."""

from dataclasses import replace

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iacgen.blueprint import parse
from iacgen.design import design
from iacgen.design.fabric.sound import parts, unmanaged


def made(count=12, servers=16, kind="opensm", pool="sm", **fabric):
    nodes = {"gpu": {"site": "h", "system": "dgx-h100", "count": count}, "sm": {"site": "h", "system": "generic-1u-ndr", "count": servers}}
    wanted = {"site": "h", "purpose": "compute", "connects": ["gpu"], "technology": "infiniband", "switch": "qm9700", "manager": {"kind": kind, "pool": pool}, **fabric}
    blueprint, findings = parse({"kind": "Cluster", "schema": 1, "name": "t", "sites": {"h": {"kind": "on-prem"}}, "nodes": nodes, "fabrics": {"compute": wanted}})
    assert not findings
    built, findings = design(blueprint)
    assert built, findings
    return built.fabrics["compute"]


SEVERAL = {
    "rail-only, a leaf a rail": ({"topology": "rail-only"}, 8),
    "rail-only, spines for each rail": ({"topology": "rail-only", "unit": 4}, 8),
    "rail groups without cores": ({"topology": "rail-fat-tree", "rail_groups": True, "unit": 4}, 8),
    "planes": ({"topology": "rail-fat-tree", "planes": 2}, 2),
    "planes of a plain tree": ({"topology": "fat-tree", "planes": 2}, 2),
    "planes of a dragonfly": ({"topology": "dragonfly", "planes": 2}, 2),
    "rails of planes": ({"topology": "rail-only", "planes": 2}, 16),
}


def cable(found):
    """A cable without the plane in the name of a host's port."""
    return (found.a, found.a_port.partition("/")[0], found.b, found.b_port, found.gbps, found.joins)


@pytest.mark.parametrize("pool", ["sm", "gpu"])
@pytest.mark.parametrize(("wanted", "count"), SEVERAL.values(), ids=[*SEVERAL])
def test_the_subnets_are_the_whole_and_share_no_cable(wanted, count, pool):
    fabric = made(pool=pool, **wanted)
    found = fabric.subnets
    assert len(found) == count == parts(fabric) and not unmanaged(fabric)
    cables = [cable(c) for subnet in found for c in subnet.wiring()]
    assert sorted(cables) == sorted(map(cable, fabric.wiring()))
    assert len({subnet.name for subnet in found}) == len({subnet.folder for subnet in found}) == count


@pytest.mark.parametrize(("wanted", "count"), SEVERAL.values(), ids=[*SEVERAL])
def test_they_are_the_parts_that_no_cable_joins(wanted, count):
    """By the cables between switches alone, each host's port being an end of its own."""
    fabric = made(**wanted)
    graph = nx.Graph()
    graph.add_nodes_from(fabric.switch_names)
    graph.add_edges_from((c.a, c.b) for c in fabric.wiring() if c.joins not in ("host-leaf", "manager-leaf"))
    joined = {frozenset(part) for part in nx.connected_components(graph)}
    assert joined == {frozenset(subnet.switch_names) for subnet in fabric.subnets} and len(joined) == count


@pytest.mark.parametrize(("kind", "servers", "of_one", "share"), [("opensm", 8, 2, 2), ("opensm", 4, 1, 2), ("ufm", 16, 2, 1), ("ufm", 8, 1, 1)])
def test_each_rail_has_its_managers_ports(kind, servers, of_one, share):
    """Master and standby on two hosts, in the rail that they manage; each port of a host in one rail alone."""
    fabric = made(kind=kind, servers=servers, topology="rail-only")
    assert (fabric.manager.subnets, fabric.manager.team, fabric.manager.share, len(fabric.manager.hosts)) == (8, of_one, share, servers)
    taken = {}
    for subnet in fabric.subnets:
        mine = [c for c in subnet.wiring() if c.joins == "manager-leaf"]
        assert {c.a for c in mine} == {*subnet.manager.hosts} and len(mine) == of_one
        assert {c.b for c in mine} <= {*subnet.switch_names}
        for c in mine:
            assert taken.setdefault((c.a, c.a_port), subnet.name) == subnet.name
    assert len(taken) == 8 * of_one


def test_hosts_that_the_fabric_connects_run_every_subnet_of_opensm_and_one_of_ufm():
    every, one = (made(kind=kind, pool="gpu", count=16, topology="rail-only") for kind in ("opensm", "ufm"))
    assert {subnet.manager.hosts for subnet in every.subnets} == {("gpu0001", "gpu0002")}
    assert len({host for subnet in one.subnets for host in subnet.manager.hosts}) == 16
    assert not every.manager.ports and not one.manager.ports


@pytest.mark.parametrize(("kind", "servers"), [("opensm", 3), ("ufm", 7)])
def test_too_few_hosts_manage_one_subnet(kind, servers):
    fabric = made(kind=kind, servers=servers, topology="rail-only")
    assert fabric.manager.subnets == 1 and unmanaged(fabric) == 7


def test_a_fabric_in_one_piece_is_its_own_subnet():
    fabric = made(servers=2, topology="rail-fat-tree")
    assert fabric.subnets == (fabric,) and fabric.folder == ""
    joined = made(servers=2, topology="rail-fat-tree", rail_groups=True, tiers=3, unit=8)
    assert joined.subnets == (joined,) and joined.manager.subnets == 1


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 60), st.integers(1, 28), st.sampled_from(["opensm", "ufm"]), st.sampled_from([1, 2]), st.booleans())
def test_no_port_is_used_twice_and_every_subnet_is_managed(count, unit, kind, planes, rails):
    fabric = made(count=count, servers=64, kind=kind, unit=unit, planes=planes, topology="rail-only" if rails else "rail-fat-tree")
    ends = [end for c in fabric.wiring() for end in ((c.a, c.a_port), (c.b, c.b_port))]
    assert len(ends) == len(set(ends)) and not unmanaged(fabric)
    cables = sum(1 for _ in fabric.wiring())
    assert cables == sum(subnet.cables.total for subnet in fabric.subnets)
    assert sum(subnet.cables.manager for subnet in fabric.subnets) == fabric.cables.manager
    assert all(subnet == replace(subnet, planes=1) for subnet in fabric.subnets if fabric.planes > 1)
