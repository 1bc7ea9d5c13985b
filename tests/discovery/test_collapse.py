"""What becomes of a graph: rails fall together, wrong cables join nothing, fabrics that only hosts share stay two."""

import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iacgen.discovery.collapse import collapse
from iacgen.discovery.groups import common, natural, span
from iacgen.discovery.wiring import Wiring


def wired(*cables, directed=()):
    """A wiring of cables between hosts (h...) and switches; (a, b) or (a, b, bytes per second). ``directed`` ones name the upper end last."""
    wiring = Wiring("net", "file")
    end = lambda name: wiring.host(name) if name.startswith("h") else wiring.switch(name, name)  # noqa: E731
    for a, b, *rate in cables:
        wiring.cable(end(a), end(b), *rate)
    for a, b in directed:
        wiring.up(end(a), end(b))
    return wiring


def unit(u, rails=4, hosts=4, spines=2, first=0):
    """A unit of hosts on one leaf a rail, each leaf on every spine."""
    cables = [(f"h{u}-{n}", f"u{u}-leaf{r}") for n in range(hosts) for r in range(rails)]
    return cables + [(f"u{u}-leaf{r}", f"spine{s + first}") for r in range(rails) for s in range(spines)]


def meant(wiring, meaning):
    hierarchies, adrift, findings = collapse(wiring)
    for hierarchy in hierarchies:
        meaning.consistent(hierarchy)
    return hierarchies, adrift, [f.slug for f in findings]


def test_rails_of_a_unit_are_one_leaf(meaning):
    (hierarchy,), adrift, slugs = meant(wired(*unit(1), *unit(2)), meaning)
    assert not adrift and not slugs
    assert meaning.named(hierarchy) == [{f"u{u}": {f"h{u}-{n}" for n in range(4)} for u in (1, 2)}, {"spine0-to-spine1": set(hierarchy.hosts)}]
    assert hierarchy.tiers == ("leaf", "spine") and hierarchy.islands == 1


def test_a_cable_in_the_wrong_unit_is_told_and_joins_nothing(meaning):
    cables = [*unit(1), *unit(2)]
    cables[cables.index(("h1-3", "u1-leaf3"))] = ("h1-3", "u2-leaf3")
    (hierarchy,), _, slugs = meant(wired(*cables), meaning)
    assert slugs == ["uneven-rails"] and {"u1": {f"h1-{n}" for n in range(4)}}.items() <= meaning.named(hierarchy)[0].items()


def test_a_lost_cable_and_a_manager_with_one_port_are_told(meaning):
    cables = [c for c in (*unit(1), *unit(2)) if c != ("h2-1", "u2-leaf0")]
    (hierarchy,), _, slugs = meant(wired(*cables, ("hufm", "u1-leaf2")), meaning)
    assert slugs == ["uneven-rails"] and meaning.named(hierarchy)[0]["u1"] == {"h1-0", "h1-1", "h1-2", "h1-3", "hufm"}


def test_a_manager_on_a_spine_does_not_make_it_a_leaf(meaning):
    (hierarchy,), _, _ = meant(wired(*unit(1), *unit(2), ("hufm", "spine0")), meaning)
    assert meaning.named(hierarchy)[0] == {"u1": {f"h1-{n}" for n in range(4)}, "u2": {f"h2-{n}" for n in range(4)}, "spine0-hosts": {"hufm"}}
    (hierarchy,), _, _ = meant(wired(*unit(1), *unit(2), ("hufm", "spine0"), ("hsm", "spine1")), meaning)
    assert {frozenset({"hufm"}), frozenset({"hsm"})} < meaning.groups(hierarchy)[0] and hierarchy.islands == 1 and len(hierarchy.tiers) == 2


def test_a_leaf_with_a_cable_into_another_pod_joins_no_pods(meaning):
    pods = [*unit(1, 1, spines=4), *unit(2, 1, spines=4), *unit(3, 1, spines=4, first=10), *unit(4, 1, spines=4, first=10)]
    cores = [(f"spine{s}", f"core{c}") for s in (0, 1, 2, 3, 10, 11, 12, 13) for c in range(2)]
    (plain,), _, _ = meant(wired(*pods, *cores), meaning)
    crossed = [("u1-leaf0", "spine10") if c == ("u1-leaf0", "spine3") else c for c in pods]
    (hierarchy,), _, _ = meant(wired(*crossed, *cores), meaning)
    assert meaning.groups(hierarchy) == meaning.groups(plain) and [len(g) for g in plain.groups] == [4, 2, 1]


def test_spines_that_are_dealt_in_turn_are_one_tier(meaning):
    """Leaf i on spines i and i + 1: no spine has leaves of its own."""
    cables = [(f"h{i}-{n}", f"leaf{i}") for i in range(6) for n in range(3)] + [(f"leaf{i}", f"spine{(i + d) % 6}") for i in range(6) for d in (0, 1)]
    (hierarchy,), _, _ = meant(wired(*cables), meaning)
    assert [len(g) for g in hierarchy.groups] == [6, 1]


def test_hosts_whose_ports_fill_one_leaf_after_the_other_join_no_leaves(meaning):
    """Host 2 has half of its ports on either leaf: it lies under the first, and is told."""
    ports = [("h0", "a")] * 8 + [("h1", "a")] * 8 + [("h2", "a")] * 4 + [("h2", "b")] * 4 + [("h3", "b")] * 8 + [("h4", "b")] * 8
    (hierarchy,), _, slugs = meant(wired(*ports, ("a", "s"), ("b", "s")), meaning)
    assert meaning.groups(hierarchy)[0] == {frozenset({"h0", "h1", "h2"}), frozenset({"h3", "h4"})} and slugs == ["uneven-rails"]


def test_leaves_that_pair_up_for_dual_homed_hosts_are_one(meaning):
    pairs = [(f"h{p}{n}", f"p{p}{side}") for p in range(3) for n in range(4) for side in "ab"] + [(f"p{p}a", f"p{p}b") for p in range(3)]
    (hierarchy,), _, slugs = meant(wired(*pairs, *((f"p{p}{side}", "s") for p in range(3) for side in "ab")), meaning)
    assert [len(g) for g in hierarchy.groups] == [3, 1] and not slugs


def test_fabrics_that_share_only_hosts_stay_two(meaning):
    storage = [(f"h{u}-{n}", "store") for u in (1, 2) for n in range(4)] + [("hoss1", "store")]
    found, _, slugs = meant(wired(*unit(1), *unit(2), *storage), meaning)
    assert [(h.name, len(h.hosts)) for h in found] == [("spine0-to-spine1", 8), ("store", 9)] and not slugs


def test_rails_that_nothing_joins_are_one_fabric(meaning):
    cables = [(f"h{n}", f"rail{r}") for n in range(16) for r in range(4)]
    (hierarchy,), _, _ = meant(wired(*cables), meaning)
    assert len(hierarchy.tiers) == 1 and hierarchy.islands == 1
    (hierarchy,), _, slugs = meant(wired(*cables[1:]), meaning)
    assert len(hierarchy.hosts) == 16 and slugs == ["uneven-rails"]
    wide = [(f"h{n}", f"rail{r}-leaf{n // 4}") for n in range(8) for r in range(4)] + [(f"rail{r}-leaf{half}", f"rail{r}-spine") for r in range(4) for half in range(2)]
    (hierarchy,), _, _ = meant(wired(*wide), meaning)
    assert [len(g) for g in hierarchy.groups] == [2, 1] and meaning.groups(hierarchy)[0] == {frozenset(f"h{n}" for n in range(4)), frozenset(f"h{n}" for n in range(4, 8))}


def test_switches_that_are_cabled_in_a_ring_are_joined(meaning):
    ring = [(f"h{i}", f"s{i}") for i in range(5)] + [(f"s{i}", f"s{(i + 1) % 5}", 10.0) for i in range(5)]
    (hierarchy,), _, _ = meant(wired(*ring), meaning)
    assert [len(g) for g in hierarchy.groups] == [5, 1] and hierarchy.uplink_Bps[0].tolist() == [20.0] * 5


def test_a_tree_of_uneven_depth_is_padded(meaning):
    (hierarchy,), _, _ = meant(wired(directed=[("h1", "deep"), ("deep", "mid"), ("mid", "top"), ("h2", "shallow"), ("shallow", "top"), ("h3", "top")]), meaning)
    assert [set(tier) for tier in meaning.named(hierarchy)] == [{"deep", "shallow", "top-hosts"}, {"mid", "shallow", "top-hosts"}, {"top"}]


def test_switches_without_hosts_vanish(meaning):
    (hierarchy,), _, _ = meant(wired(directed=[("h1", "a"), ("a", "top"), ("empty", "top"), ("emptier", "empty")]), meaning)
    assert [list(tier) for tier in meaning.named(hierarchy)] == [["a"], ["top"]]


def test_a_host_in_two_places_has_none(meaning):
    wiring = Wiring("net", "file")
    for host, leaf in (("h1", "a"), ("h2", "a"), ("h1", "b"), ("h3", "b")):
        wiring.place(host, [("top", "top"), (leaf, leaf)])
    (hierarchy,), adrift, slugs = meant(wiring, meaning)
    assert hierarchy.hosts == ("h2", "h3") and adrift == ("h1",) and slugs == ["host-name-twice"]
    assert wiring.settle()[1][0].message.startswith("1 name stands for two hosts, which therefore")


def test_rates_that_are_not_told_are_without_bound(meaning):
    (hierarchy,), _, _ = meant(wired(("h1", "a", 1.0), ("h2", "a", 1.0), ("h3", "b", 2.0), ("a", "s", 5.0), ("b", "s")), meaning)
    assert hierarchy.node_Bps == 1.0 and dict(zip(hierarchy.groups[0], hierarchy.uplink_Bps[0], strict=True)) == {"a": 5.0, "b": math.inf}


def test_names_are_what_the_switches_have_in_common():
    assert common(["leaf7"]) == "leaf7"
    assert common(["su1-leaf1", "su1-leaf10", "su1-leaf2"]) == "su1"
    assert common(["su10-leaf1", "su11-leaf1"]) == "su"
    assert common(["rack2.sw1", "rack2.sw2"]) == "rack2"
    assert common(["leaf1", "leaf2"]) == span(["leaf2", "leaf1"]) == "leaf1-to-leaf2"
    assert sorted(["gpu10", "b", "gpu9", "a10b", "a9c"], key=natural) == ["a9c", "a10b", "b", "gpu9", "gpu10"]


@settings(max_examples=80, deadline=None)
@given(cables=st.lists(st.tuples(st.sampled_from([f"h{i}" for i in range(6)] + [f"s{i}" for i in range(6)]), st.sampled_from([f"s{i}" for i in range(6)])), max_size=40))
def test_any_cables_give_hierarchies_that_hold_every_host(cables, meaning):
    wiring = wired(*cables)
    hierarchies, adrift, _ = meant(wiring, meaning)
    assert {h for hierarchy in hierarchies for h in hierarchy.hosts} | set(adrift) == {name for cable in cables for name in cable if name.startswith("h")}


def test_a_fabric_of_a_hundred_thousand_gpus_is_read_in_seconds():
    """384 units of 32 hosts on eight rails in pods of 16 units: 12,288 hosts, 98,304 cables below and 98,304 above the leaves."""
    wiring = Wiring("net", "file")
    for u in range(384):
        leaves = [wiring.switch(f"u{u}-leaf{r}") for r in range(8)]
        for n in range(32):
            host = wiring.host(f"gpu{u * 32 + n}")
            for leaf in leaves:
                wiring.cable(host, leaf, 50e9)
        for r, leaf in enumerate(leaves):
            for s in range(32):
                wiring.cable(leaf, wiring.switch(f"p{u // 16}-r{r}-spine{s}"), 50e9)
    for p in range(24):
        for r in range(8):
            for s in range(32):
                for c in range(4):
                    wiring.cable(wiring.switch(f"p{p}-r{r}-spine{s}"), wiring.switch(f"r{r}-core{s}-{c}"), 50e9)
    began = time.process_time()
    (hierarchy,), _, findings = collapse(wiring)
    assert [len(g) for g in hierarchy.groups] == [384, 24, 1] and not findings
    assert hierarchy.uplink_Bps[0] == pytest.approx(8 * 32 * 50e9) and hierarchy.uplink_Bps[1] == pytest.approx(8 * 32 * 4 * 50e9)
    assert time.process_time() - began < 30
