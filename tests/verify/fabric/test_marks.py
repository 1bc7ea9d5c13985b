"""What each kind of fabric must reach: worked out by hand."""

from dataclasses import replace

import pytest

from iacgen.verify.fabric.chance import loads
from iacgen.verify.fabric.marks import mark, ring_mark
from iacgen.verify.fabric.plan import Link, Plan, of_fabric


def test_marks_of_what_the_designer_may_leave_unfilled(fabrics):
    """Three units in pods of two; cores for a second pod that is not there; cores dealt by choice."""
    short = mark(of_fabric(fabrics.designed(24, topology="rail-fat-tree", unit=8, tiers=3, pod=2)))
    assert (short.flows, short.idle) == (2, 128)  # each of the second pod's four spines has 16 links down less than the first pod's, idle both ways
    waiting = fabrics.designed(32, topology="fat-tree", tiers=3)
    assert mark(of_fabric(waiting)).idle == 2 * waiting.cables.spine_core > 0
    dealt = of_fabric(fabrics.designed(24, topology="rail-fat-tree", unit=8, tiers=3, pod=1, cores="fewest"))
    assert dealt.shares_links and mark(dealt).flows == 3


@pytest.mark.parametrize(
    ("shape", "sizes", "flows", "idle"),
    [
        ("rails", {}, 1, 0),
        ("rails", {"absent": 1}, 1, 16),  # one unit: node by node no flow meets another; each leaf has an uplink that nobody needs, either way
        ("rails", {"units": 2, "rails": 4, "hosts": 8, "spines": 8, "parallel": 1, "radix": 16, "absent": 3}, 2, 12),
        ("rails", {"units": 2, "rails": 4, "hosts": 8, "spines": 2, "parallel": 1, "radix": 16}, 4, 0),
        ("rails", {"units": 2, "rails": 4, "hosts": 8, "spines": 3, "parallel": 1, "radix": 16}, 3, 0),  # 8 : 3, so three on the fullest link
        ("rails", {"units": 2, "rails": 4, "hosts": 8, "spines": 2, "parallel": 1, "radix": 16, "absent": 1}, 5, 0),  # one more, since runs of destinations break; four share a link: none is idle
        ("cubic", {"radix": 8}, 1, 0),
        ("cubic", {"radix": 16, "pods": 3}, 1, 0),
        ("dragonfly", {"p": 2, "a": 4, "h": 2}, 5, 0),  # half of the 8 that hosts side by side have
        ("dragonfly", {"p": 4, "a": 8, "h": 4}, 8, 0),  # promised; a quarter of the 32 that hosts side by side have
    ],
)
def test_marks(fabrics, shape, sizes, flows, idle):
    wanted = mark(getattr(fabrics, shape)(**sizes))
    assert (wanted.flows, wanted.idle) == (flows, idle), wanted.why


def test_what_a_tree_may_leave_idle_by_hand(fabrics):
    """Nine hosts of eight adapters on 16-port switches, 30 planned: nine full leaves in a pod of eight and one of one, which are to be
    eight. The first pod's 64 ways to the cores all lead to somebody, the second's to 8 adapters: 56 idle down into it, and 56 up from
    the first, where nobody else is reached. One more host fills none of that but its own leaf."""
    small, more = (of_fabric(fabrics.small(16, count, topology="fat-tree", grow_to=30)) for count in (9, 10))
    assert (mark(small).idle, mark(more).idle) == (2 * 56, 2 * 48)


@pytest.mark.parametrize(
    ("count", "wanted", "flows"),
    [
        (32, {"topology": "rail-fat-tree", "unit": 16}, 1),
        (32, {"topology": "rail-fat-tree", "unit": 16, "oversubscription": 16}, 1),  # one host's flow from each leaf, to one uplink
        (24, {"topology": "fat-tree", "oversubscription": 16}, 3),  # 8 flows of a host over 4 uplinks, on leaves with room
        (48, {"topology": "rail-fat-tree", "unit": 8, "oversubscription": 2, "spine_oversubscription": 2, "tiers": 3, "pod": 2}, 4),
    ],
)
def test_marks_of_rings(fabrics, count, wanted, flows):
    assert ring_mark(of_fabric(fabrics.designed(count, **wanted))) == flows


def test_loads_of_a_ring_by_hand(fabrics):
    """Four switches in a ring, a host on each: a neighbour's way has one link; half of those to the opposite one go each way round, so
    that a directed link has 1 pair of neighbours, and 2 halves."""
    hosts = tuple(f"h{i} mlx5_0" for i in range(4))
    links = tuple(Link(host, 1, f"s{i}", 1) for i, host in enumerate(hosts)) + tuple(Link(f"s{i}", 2, f"s{(i + 1) % 4}", 3) for i in range(4))
    ring = Plan(hosts, (("s0", "s1", "s2", "s3"),), dict.fromkeys(("s0", "s1", "s2", "s3"), 3), links, hosts, "dragonfly")
    assert loads(ring, ["s0", "s1", "s2", "s3"]).tolist() == [2.0] * 8
    assert loads(ring, ["s0", "s0", "s1"]).tolist() == pytest.approx([2, 0, 0, 0, 2, 0, 0, 0])  # both ways between s0 and s1 only


def test_hosts_of_a_dragonfly_side_by_side_are_beyond_its_mark(fabrics):
    """All hosts of a group send to one other at once: a p of them over the one link, in any full dragonfly."""
    for p, a, h in ((2, 4, 2), (3, 6, 3), (4, 8, 4)):
        assert mark(fabrics.dragonfly(p, a, h)).flows < p * a


def test_adapters_that_lie_side_by_side_count_together(fabrics):
    one = fabrics.dragonfly(2, 4, 2)
    leaf = {link.a: link for link in one.links if link.a in one.adapters}
    both = tuple(f"{name.split()[0]} mlx5_{n}" for name in one.order for n in (0, 1))
    links = tuple(leaf[f"{name.split()[0]} mlx5_0"]._replace(a=name) for name in both) + tuple(link for link in one.links if link.a not in leaf)
    assert mark(replace(one, adapters=both, order=both, links=links)).flows == 2 * mark(one).flows
