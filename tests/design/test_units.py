"""Scalable units: of uneven size, of several pools, and what growth does to them."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacgen.design.fabric.growth import moves
from iacgen.pipeline import run

HEAD = """kind: Cluster
schema: 1
name: units
sites: {hall: {kind: on-prem}}
nodes:
"""
POOL = "  {name}: {{site: hall, system: {system}, count: {count}{more}}}\n"
REST = """  ufm: {{site: hall, system: generic-1u, count: 2}}
fabrics:
  compute: {{site: hall, purpose: compute, connects: [{pools}], technology: infiniband, topology: rail-fat-tree, switch: qm9700{more}}}
"""
UFM = ", manager: {kind: ufm, pool: ufm}"


def state(pools, more):
    """``pools``: (name, count, grow_to or 0[, system])."""
    text = HEAD
    for name, count, grown, *system in pools:
        text += POOL.format(name=name, count=count, more=f", grow_to: {grown}" if grown else "", system=system[0] if system else "dgx-h100")
    more += "" if "manager" in more else f", manager: {{kind: opensm, pool: {pools[0][0]}}}"
    return run(text + REST.format(pools=", ".join(name for name, *_ in pools), more=more), "units.yaml")


def fabric(pools, more):
    found = state(pools, more)
    assert found.design, found.findings
    return found.design.fabrics["compute"]


def refusal(pools, more):
    found = [f for f in state(pools, more).findings if f.severity == "error"]
    assert [f.id for f in found] == ["IAC211"]
    return found[0]


def test_units_as_a_hall_has_them():
    """31, 32, 30 nodes and what is left over, on leaves that are laid in full."""
    built = fabric([("gpu", 120, 0)], ", unit: 32, units: [31, 32, 30]" + UFM)
    assert [len(group.hosts) for group in built.groups] == [31, 32, 30, 27]
    assert (len(built.leaves), len(built.spines), built.cables.leaf_spine) == (32, 16, 1024)
    assert [group.hosts[0] for group in built.groups] == ["gpu0001", "gpu0032", "gpu0064", "gpu0094"]
    assert built.reserved == 32  # the manager has the place of the missing node


@pytest.mark.parametrize(
    ("units", "path", "words"),
    [
        ("[33]", "units", "unit 1 is to hold 33 nodes, and a unit has places for 32"),
        ("[32, 32]", "manager", "leaves place for 31"),
        ("[31, 32, 32, 32]", "units", "127 nodes, and there will be 100"),
    ],
)
def test_units_that_cannot_be(units, path, words):
    found = refusal([("gpu", 100, 0)], f", unit: 32, units: {units}" + UFM)
    assert found.path == ("fabrics", "compute", path) and words in found.message


def test_several_pools_stand_in_one_row():
    """A pool goes on where the one before it ends, in the order in which the fabric connects them."""
    built = fabric([("even", 20, 0), ("odd", 30, 0)], ", unit: 32")
    assert [len(group.hosts) for group in built.groups] == [32, 18]
    assert built.groups[0].hosts[19:21] == ("even0020", "odd0001") and built.groups[1].hosts[0] == "odd0013"
    assert built.cables.host == 8 * 50


def test_a_pool_grows_without_moving_the_next():
    """Places of nodes to come are kept, so that the second pool lies behind all of the first."""
    before, after = (fabric([("even", count, 40), ("odd", 23, 0)], ", unit: 32" + UFM) for count in (20, 40))
    assert not moves(before, after).disturbs
    assert before.groups[1].hosts[0] == "odd0001" and before.groups[1].ports[0] == 10  # behind 31 and 9 of the first pool


def test_pools_of_different_rails_are_refused():
    found = refusal([("eight", 8, 0), ("four", 18, 0, "pcie-h100")], ", unit: 32")
    assert found.path == ("fabrics", "compute", "connects") and "4 and 8" in found.message


@given(st.lists(st.integers(1, 12), max_size=6), st.integers(0, 20), st.sampled_from(["by-unit", "round-robin"]), st.booleans(), st.integers(0, 30))
def test_every_node_has_a_place_of_its_own(units, rest, numbering, managed, later):
    """No two nodes on one port, no port beyond the unit's, every node once, and growth leaves all where they are."""
    count = sum(units) + rest or 1
    more = f", unit: 12, units: {units}, numbering: {numbering}" + (UFM if managed else "")
    found = state([("gpu", count, count + later)], more)
    if not found.design:
        assert {f.id for f in found.findings if f.severity == "error"} == {"IAC211"}
        return
    built = found.design.fabrics["compute"]
    places = [(group.name, port) for group in built.groups for port in group.ports]
    assert len(set(places)) == len(places) == count == len(set(built.hosts))
    assert all(1 <= port <= 12 for _, port in places)
    if numbering == "by-unit":
        sizes = [len(group.hosts) for group in built.groups]
        assert sizes[: len(units)] == units[: len(sizes)]
        assert list(itertools.chain(*(group.hosts for group in built.groups))) == sorted(built.hosts)
    grown = state([("gpu", count + later, count + later)], more).design
    assert grown is None or not moves(built, grown.fabrics["compute"]).disturbs
