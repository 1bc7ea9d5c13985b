"""Fabrics of switches that no catalog has: 8 to 128 ports, any rails, planes, pods, groups, splits and ratios.

What is refused names its key. What is built has every port once and within the switch, as many cables in its arrays as it counts, even
uplinks, the bandwidth that was promised, and keeps every cable when it grows within its plan.
"""

import re
from collections import Counter
from dataclasses import replace
from unittest.mock import patch

import numpy as np
from hypothesis import event, given, settings
from hypothesis import strategies as st

from iacgen import catalog
from iacgen.blueprint.fabrics import Fabric as Wanted
from iacgen.catalog import Source, Switch
from iacgen.design.fabric.build import build
from iacgen.design.fabric.shape import FabricError
from iacgen.design.model import Capacity, Pool

FASTEST = 400
SYSTEM = catalog.system("dgx-h100")


def switch(radix):
    ports = {FASTEST // n: radix * n for n in (1, 2, 4)}
    source = (Source(figures=("ports_by_gbps",), where="drawn", date="2026-01"),)
    return Switch(
        kind="switch", id="drawn", name="drawn", sources=source, vendor="x", technologies=("infiniband", "ethernet", "roce"), ports_by_gbps=ports, cages=radix, form="osfp",
        cage_links=1, software=("cumulus",), rack_units=1,
    )  # fmt: skip


def pool(count, grow_to, ports):
    nic = SYSTEM.nics["compute"].model_copy(update={"count": ports, "rdma_names": tuple(f"mlx5_{i}" for i in range(ports)), "interfaces": tuple(f"ib{i}" for i in range(ports))})
    system = SYSTEM.model_copy(update={"nics": {**SYSTEM.nics, "compute": nic}})
    return Pool("gpu", "hall", system, None, count, 4, 0, frozenset(), Capacity("on-demand", None), ("nodes", "gpu"), grow_to=grow_to)


def built(radix, ports, count, grow_to, wanted):
    """The fabric or its refusal, on a catalog of this one switch."""
    pools = {"gpu": pool(count, grow_to, ports), "ufm": replace(pool(2, 0, 2), name="ufm", system=catalog.system("generic-1u"))}
    asked = Wanted.model_validate({"site": "hall", "purpose": "compute", "connects": ["gpu"], "switch": "drawn", **wanted})
    with patch.object(catalog, "switch", lambda _: switch(radix)), patch.object(catalog, "ids", lambda _: ("drawn",)):
        return build("net", asked, pools, catalog.system("generic-1u").nics["compute"], near=False)


few = st.sampled_from([1, 2, 3, 4, 6, 8, 12])
maybe = st.one_of(st.none(), few)


@st.composite
def requests(draw):
    """Mostly such as can be built: what belongs to another topology is left out more often than not."""
    topology = draw(st.sampled_from(["rail-fat-tree", "rail-fat-tree", "fat-tree", "fat-tree", "rail-only", "dragonfly", "dragonfly-plus"]))
    radix, ports, count = draw(st.integers(8, 128)), draw(st.integers(1, 8)), draw(st.integers(1, 120))
    wanted = {"topology": topology, "technology": draw(st.sampled_from(["infiniband", "roce"])), "planes": draw(st.sampled_from([1, 1, 2, 4])), "numbering": draw(st.sampled_from(["by-unit", "round-robin"]))}
    if wanted["technology"] == "infiniband" and draw(st.booleans()):
        wanted["manager"] = {"kind": draw(st.sampled_from(["ufm", "opensm"])), "pool": "ufm"}
    if topology.startswith("dragonfly"):
        wanted["group"] = {key: n for key in ("hosts", "leaves", "spines", "links") if (n := draw(maybe))} or None
    else:
        wanted |= {"oversubscription": draw(st.one_of(st.just(1.0), st.floats(1, 16))), "spine_oversubscription": draw(st.sampled_from([1.0, 1.0, 1.5, 3.0]))}
        wanted |= {"tiers": draw(st.sampled_from([None, None, 2, 3])), "spines": draw(st.one_of(st.none(), st.none(), few)), "pod": draw(st.one_of(st.none(), st.none(), few))}
        wanted |= {"cores": draw(st.sampled_from(["contention-free", "contention-free", "fewest"])), "split": draw(st.sampled_from(["equal"] * 5 + ["rotating"]))}
        if wanted["split"] == "rotating" and draw(st.booleans()):
            wanted |= {"spines": wanted["spines"] or 2, "tiers": None}
    if topology.startswith("rail"):
        wanted |= {"unit": draw(st.one_of(st.none(), st.integers(1, radix))), "rail_groups": draw(st.booleans())}
    return radix, ports, count, wanted


def even(found):
    """{links of a pair}, {partners of a lower end}."""
    pairs, links = np.unique(np.stack([found.a, found.b]), axis=1, return_counts=True)
    return set(links.tolist()), set(np.unique(pairs[0], return_counts=True)[1].tolist())


@given(requests(), st.integers(0, 40), st.integers(0, 40))
@settings(max_examples=400, deadline=None)
def test_invariants(asked, more, spare):
    radix, ports, count, wanted = asked
    grow_to = count + more + spare if more + spare else 0
    try:
        made = built(radix, ports, count, grow_to, wanted)
    except FabricError as error:
        event(f"refused: {error.field}")
        assert str(error) and (error.field is None or error.field in Wanted.model_fields)
        return
    event(f"built: {made.topology}, {len(made.tiers)} tiers")
    every_port_once(made, radix)
    as_counted(made)
    hosts_as_asked(made, ports, count)
    spread_evenly(made, wanted)
    as_promised(made, wanted)
    try:
        grown = built(radix, ports, count + more, grow_to, wanted)
    except FabricError as error:
        assert error.field == "manager", "a plan that was laid out is refused when it is filled"
        return
    if not made.topology.startswith("dragonfly"):  # whose second group brings the first links between groups
        assert (made.trunks is None) == (grown.trunks is None), "one switch becomes a tree within its plan"
    assert set(made.wiring()) <= set(grown.wiring()), "growth within the plan moves a cable"
    assert set(made.switch_names) <= set(grown.switch_names)
    assert (made.spines, made.cores) == (grown.spines, grown.cores) or made.pods


def every_port_once(made, radix):
    """By device and port, both ends; a port's number within the ports at the speed of its link."""
    ends = [(end, cable.gbps) for cable in made.wiring() for end in ((cable.a, cable.a_port), (cable.b, cable.b_port))]
    assert len(ends) == len({end for end, _ in ends})
    switches = set(made.switch_names)
    assert all(1 <= int(port) <= radix * (FASTEST // min(gbps, *made.link_gbps.values())) for (device, port), gbps in ends if device in switches)
    known = switches | set(made.hosts) | set(made.manager.hosts if made.manager else ())
    assert {device for (device, _), _ in ends} <= known


def as_counted(made):
    """Links of the arrays are the cables of the counts, of every plane and of the manager's once."""
    found = {}
    for links in made.links():
        found[links.joins] = found.get(links.joins, 0) + len(links)
        assert len(links.a) == len(links.a_port) == len(links.b) == len(links.b_port)
    counts = made.cables
    names = {"host-leaf": counts.host, "leaf-spine": counts.leaf_spine, "spine-core": counts.spine_core, "leaf-leaf": counts.local, "group-group": counts.across}
    assert {name: n for name, n in found.items() if n and name != "manager-leaf"} == {name: n * made.planes for name, n in names.items() if n}
    assert found.get("manager-leaf", 0) == counts.manager
    assert sum(1 for _ in made.wiring()) == sum(found.values())


def hosts_as_asked(made, ports, count):
    """Every host once, each of its ports with a link to every plane; by rails port i of all hosts of a unit on one leaf."""
    assert len(made.hosts) == len(set(made.hosts)) == count
    laid = {}
    for cable in made.wiring():
        if cable.joins == "host-leaf":
            laid.setdefault(cable.a, []).append((cable.a_port, cable.b))
    assert {len(links) for links in laid.values()} == {ports * made.planes}
    if made.by_rail:
        for group in made.groups:
            assert len({tuple(sorted(laid[host])) for host in group.hosts}) <= 1
            assert all(len({leaf for _, leaf in laid[host]}) == ports * made.planes for host in group.hosts)


def spread_evenly(made, wanted):
    """Of each leaf over its spines, and of each spine over its cores; rotating pairs differ by one."""
    for found in made.links():
        if found.joins in ("leaf-spine", "spine-core") and not (found.joins == "spine-core" and wanted.get("cores") == "fewest"):
            links, partners = even(found)
            rotating = wanted.get("split") == "rotating"
            assert max(links) - min(links) <= (1 if rotating else 0) and len(partners) == 1
        if found.joins == "group-group":
            groups = [[int(re.search(r"-g(\d+)-", made.switch_names[i])[1]) for i in end] for end in (found.a, found.b)]
            pairs = Counter((made.switch_names[a].startswith("net-plane") and made.switch_names[a].split("-")[1], *sorted(pair)) for a, *pair in zip(found.a, *groups, strict=True))
            assert len(set(pairs.values())) == 1 and len(pairs) == len(made.pods) * (len(made.pods) - 1) // 2


def as_promised(made, wanted):
    """Host bandwidth of a leaf over its uplinks, and of a spine's leaves over its cores: never more than asked for."""
    if made.topology.startswith("dragonfly") or made.trunks is None:
        return
    assert made.oversubscription <= wanted["oversubscription"] * (1 + 1e-9)
    if made.cores:
        links = {found.joins: found for found in made.links() if len(found)}
        down, up = np.bincount(links["leaf-spine"].b), np.bincount(links["spine-core"].a)
        assert down.max() <= up[up > 0].min() * wanted["spine_oversubscription"] * (1 + 1e-9)
