"""What each kind of fabric must reach: worked out by hand."""

import pytest

from iacgen.verify.fabric.marks import mark
from iacgen.verify.fabric.parts import parts
from iacgen.verify.fabric.plan import of_fabric


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
        ("rails", {"absent": 1}, 1, 8),  # one unit: node by node no flow meets another; eight ports lead to nobody
        ("rails", {"units": 2, "rails": 4, "hosts": 8, "spines": 8, "parallel": 1, "radix": 16, "absent": 3}, 2, 12),
        ("rails", {"units": 2, "rails": 4, "hosts": 8, "spines": 2, "parallel": 1, "radix": 16}, 4, 0),
        ("rails", {"units": 2, "rails": 4, "hosts": 8, "spines": 3, "parallel": 1, "radix": 16}, 3, 0),  # 8 : 3, so three on the fullest link
        ("rails", {"units": 2, "rails": 4, "hosts": 8, "spines": 2, "parallel": 1, "radix": 16, "absent": 1}, 5, 4),
        ("cubic", {"radix": 8}, 1, 0),
        ("cubic", {"radix": 16, "pods": 3}, 1, 0),
        ("dragonfly", {"p": 2, "a": 4, "h": 2}, 5, 0),  # 72 ranks, log2 = 6.2
        ("dragonfly", {"p": 4, "a": 8, "h": 4}, 8, 0),  # 1,056 ranks, log2 = 10.04
    ],
)
def test_marks(fabrics, shape, sizes, flows, idle):
    wanted = mark(getattr(fabrics, shape)(**sizes))
    assert (wanted.flows, wanted.idle) == (flows, idle), wanted.why


def test_rails_without_spines_are_a_subnet_each(fabrics):
    plan = fabrics.rails(rails=4, hosts=8, spines=0, parallel=0, radix=16)
    found = parts(plan)
    assert [part.switches for part in found] == [(f"su0-leaf{r}",) for r in range(4)]
    assert all(len(part.adapters) == len(part.links) == 8 for part in found)
    assert sorted(name for part in found for name in part.order) == sorted(plan.order)


def test_a_fabric_that_is_joined_is_one_subnet(fabrics):
    plan = fabrics.rails()
    assert parts(plan) == [plan]
