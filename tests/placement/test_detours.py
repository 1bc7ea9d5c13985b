"""What a placement makes of the messages that the time of a step counts at one rate."""

from __future__ import annotations

import pytest

from iacgen.placement.detours import detours
from iacgen.placement.model import Cost, FamilyCost
from iacgen.training.traffic import Traffic

TRAFFIC = Traffic(data=850e9, context=0.0, pipeline=85e9, expert=0.0, pipeline_ring=False)


def family(name, slowest_s, congestion_s):
    return FamilyCost(name, 0.4, 0.4 * max(slowest_s, congestion_s), slowest_s, None, congestion_s, None, (0.0,), 0)


def test_a_detour_is_the_time_over_that_of_the_same_bytes_at_one_rate():
    """850 GB at 340 GB/s take 2.5 s: 2 s are less than that, and 5 s over busy uplinks twice as long."""
    near = Cost(("leaf",), (family("dp", 2.0, 0.0), family("pp", 0.25, 0.0)))
    assert detours(near, TRAFFIC, 340e9) == pytest.approx({"data": 0.8, "pipeline": 1.0})
    busy = Cost(("leaf",), (family("dp", 2.0, 5.0),))
    assert detours(busy, TRAFFIC, 340e9) == pytest.approx({"data": 2.0})


def test_shard_groups_and_the_rings_between_them_are_both_data():
    """340 GB inside a group and 34 GB between groups: the one at half its rate, the other at a fifth."""
    traffic = Traffic(data=34e9, context=0.0, pipeline=0.0, expert=0.0, pipeline_ring=False, shard=340e9)
    assert detours(Cost(("leaf",), (family("dp", 0.5, 0.0), family("fs", 2.0, 0.0))), traffic, 340e9) == pytest.approx({"data": 5.0})
    assert detours(Cost(("leaf",), (family("fs", 2.0, 0.0),)), traffic, 340e9) == pytest.approx({"data": 2.0})


def test_what_stays_in_its_nodes_has_no_detour():
    assert detours(Cost(("leaf",), ()), TRAFFIC, 340e9) == {}
