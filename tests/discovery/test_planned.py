"""A planned fabric, told as ibnetdiscover would tell it, is found again: cables, rails, planes and routers fall together into the groups
that the plan was made of, and as much may leave each of them."""

from collections import Counter

import numpy as np
import pytest

from iacgen import catalog
from iacgen.blueprint import parse
from iacgen.design import design
from iacgen.design.fabric.planned import of_fabric as hierarchy_of
from iacgen.discovery import read
from iacgen.verify.fabric.netlist import netlist
from iacgen.verify.fabric.plan import of_fabric as plan_of

SDR_Bps = 4 * 2e9 / 8  # the netlist says 4xSDR of every link: four lanes of 2 Gb/s of data


def designed(count, system="dgx-h100", managers=0, radix=None, **fabric):
    nodes = {"gpu": {"site": "hall", "system": system, "count": count}} | ({"ufm": {"site": "hall", "system": "generic-1u", "count": managers}} if managers else {})
    manager = {"manager": {"kind": "ufm", "pool": "ufm"}} if managers else {}
    data = {
        "kind": "Cluster", "schema": 1, "name": "t", "sites": {"hall": {"kind": "on-prem"}}, "nodes": nodes,
        "fabrics": {"compute": {"site": "hall", "purpose": "compute", "connects": ["gpu"], "technology": "infiniband", "switch": "qm9700", **manager, **fabric}},
    }  # fmt: skip
    known = catalog.switch
    with pytest.MonkeyPatch.context() as patch:
        if radix:
            patch.setattr(catalog, "switch", lambda name: known(name).model_copy(update={"ports_by_gbps": {200: 2 * radix, 400: radix}}))
        blueprint, findings = parse(data)
        assert not findings
        made, findings = design(blueprint)
    assert made, findings
    return made.fabrics["compute"]


FABRICS = {
    "rails of one unit": {"count": 31, "topology": "rail-fat-tree", "unit": 32},
    "rails of four units, the last short, with managers": {"count": 127, "managers": 2, "topology": "rail-fat-tree", "unit": 32},
    "rails at four to one": {"count": 32, "topology": "rail-fat-tree", "unit": 16, "oversubscription": 4},
    "rails in pods": {"count": 24, "topology": "rail-fat-tree", "unit": 8, "tiers": 3, "pod": 1},
    "rails in pods whose spines are dealt to the cores": {"count": 24, "topology": "rail-fat-tree", "unit": 8, "tiers": 3, "pod": 1, "cores": "fewest"},
    "a tree": {"count": 20, "topology": "fat-tree"},
    "a tree of three tiers": {"count": 32, "radix": 16, "topology": "fat-tree", "tiers": 3},
    "rails that nothing joins": {"count": 32, "topology": "rail-only"},
    "a dragonfly": {"count": 72, "topology": "dragonfly", "group": {"hosts": 8, "leaves": 8, "links": 1}},
    "a dragonfly with several links between groups": {"count": 40, "topology": "dragonfly", "group": {"hosts": 8, "leaves": 8, "links": 4}},
    "a dragonfly whose last group is half empty": {"count": 36, "topology": "dragonfly", "group": {"hosts": 8, "leaves": 8, "links": 4}},
    "a dragonfly with one host in its last group": {"count": 9, "topology": "dragonfly", "group": {"hosts": 8, "leaves": 8, "links": 1}},
    "a dragonfly of one group, mostly empty": {"count": 3, "topology": "dragonfly", "group": {"hosts": 8, "leaves": 8, "links": 1}},
    "rails on two planes": {"count": 20, "topology": "rail-fat-tree", "unit": 8, "planes": 2},
    "three tiers where two would do": {"count": 70, "topology": "fat-tree", "tiers": 3},
    "a dragonfly+": {"count": 40, "topology": "dragonfly-plus"},
}


@pytest.mark.parametrize("wanted", FABRICS.values(), ids=FABRICS)
def test_what_is_planned_is_found(wanted, meaning):
    fabric = designed(**wanted)
    planned = hierarchy_of(fabric)
    found = read(netlist(plan_of(fabric)).encode(), "scan")
    assert found.kind == "ibnetdiscover" and len(found.hierarchies) == 1
    hierarchy = found.hierarchies[0]
    meaning.consistent(hierarchy)
    strangers = set(hierarchy.hosts) - set(planned.hosts)
    assert strangers == set(fabric.manager.hosts if fabric.manager and fabric.manager.kind == "ufm" else ())
    assert {f.slug for f in found.findings} <= ({"uneven-rails"} if strangers else set()) and not found.adrift
    assert meaning.groups(hierarchy.only(planned.hosts)) == meaning.groups(planned)


@pytest.mark.parametrize("wanted", [w for name, w in FABRICS.items() if name != "rails that nothing joins"], ids=[name for name in FABRICS if name != "rails that nothing joins"])
def test_as_much_may_leave_a_group_as_is_planned(wanted, meaning):
    """Every link counts as one of the simulator's, and the plan's rate is that of its own links: so both are compared in links."""
    fabric = designed(**wanted)
    plan, hierarchy = plan_of(fabric), read(netlist(plan_of(fabric)).encode(), "scan").hierarchies[0]
    group_of = {leaf: group.name for group in fabric.groups for leaf in group.leaves}
    leaving = Counter(group_of[end] for link in plan.links if link.a in plan.ports for end in (link.a, link.b) if end in group_of)
    wanted_links = {frozenset(group.hosts): leaving[group.name] for group in fabric.groups if group.hosts}
    found = {}
    for names, rates in zip(meaning.named(hierarchy.only(fabric.hosts))[:1], hierarchy.uplink_Bps, strict=False):
        found = {frozenset(hosts): rates[hierarchy.groups[0].index(name)] / SDR_Bps for name, hosts in names.items()}
    assert found == pytest.approx(wanted_links)
    assert np.isinf(hierarchy.uplink_Bps[-1]).all()
    assert hierarchy.node_Bps == pytest.approx(Counter(a.split()[0] for a in plan.adapters)[fabric.hosts[0]] * SDR_Bps)
