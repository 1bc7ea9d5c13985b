"""Feeds by hand: who hangs where, and what is left for a feed to carry when another is lost."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacgen.design.facility import Facility, Feeds, Floor, Limits, Rack, Standing
from iacgen.design.facility.feeds import dark_w, feeds_of, loads, pairs


def hall(watts: list[int], feeds: Feeds | None) -> Facility:
    floor = Floor(row_length=10, side=1)
    racks = tuple(Rack(f"r{i}", i // 10 + 1, i % 10 + 1, (Standing(f"m{i}", 1, 1, w, None, ""),)) for i, w in enumerate(watts))
    return Facility("hall", racks, Limits(48, 10**6, 10**6), floor, sum(watts), None, feeds, ())


@pytest.mark.parametrize(
    ("count", "redundancy", "normal", "worst"),
    [
        (1, "N", [60_000], [60_000]),
        (2, "N", [30_000, 30_000], [30_000, 30_000]),  # nothing moves: the racks of the lost feed are dark
        (2, "2N", [30_000, 30_000], [60_000, 60_000]),
        (4, "2N", [15_000] * 4, [30_000] * 4),  # a side that is lost leaves each feed with its own racks
        (3, "N+1", [20_000] * 3, [30_000] * 3),  # two feeds carry what three did
        (2, "N+1", [30_000, 30_000], [60_000, 60_000]),
    ],
)
def test_six_racks_of_ten_kilowatts(count: int, redundancy: str, normal: list[int], worst: list[int]):
    found = loads(hall([10_000] * 6, Feeds(count, redundancy, 1)))
    assert [(f.normal_w, f.worst_w) for f in found] == list(zip(normal, worst))


def test_without_feeds_nothing_is_said():
    assert loads(hall([10_000], None)) == ()


def test_one_feed_lost_of_n_leaves_its_own_racks_dark():
    lab = hall([5_000, 7_000, 1_000], Feeds(2, "N", 1))
    assert [dark_w(lab, 1), dark_w(lab, 2)] == [6_000, 7_000]
    assert dark_w(hall([5_000, 7_000], Feeds(2, "2N", 1)), 1) == 0


@given(st.integers(2, 12))
def test_every_pair_of_n_plus_1_comes_once(count: int):
    found = [frozenset(pair) for pair in pairs(Feeds(count, "N+1", 1))]
    assert sorted(map(sorted, found)) == sorted(map(sorted, map(set, combinations(range(count), 2))))


@given(st.lists(st.integers(0, 50_000), min_size=1, max_size=60), st.integers(1, 8), st.sampled_from(["N", "N+1", "2N"]))
def test_the_load_of_a_lost_feed_is_carried_by_the_others(watts: list[int], count: int, redundancy: str):
    if redundancy == "2N" and count % 2:
        count += 1
    facility = hall(watts, Feeds(count, redundancy, 1))
    on = feeds_of(facility.racks, facility.feeds, 10)
    found = loads(facility)
    assert abs(sum(f.normal_w for f in found) - sum(watts)) <= count  # rounded up, feed by feed
    for lost in range(count):
        carried = [0.0] * count
        for rack, feeds in zip(facility.racks, on, strict=True):
            left = [feed for feed in feeds if feed != lost]
            for feed in left:
                carried[feed] += rack.power_w / len(left)
        assert abs(sum(carried) + dark_w(facility, lost + 1) - sum(watts)) < 1e-6
        assert all(carried[f.number - 1] <= f.worst_w for f in found if f.number - 1 != lost)


def test_a_rack_keeps_its_feeds_when_others_come():
    few, many = hall([1_000] * 5, Feeds(5, "N+1", 1)), hall([1_000] * 50, Feeds(5, "N+1", 1))
    assert feeds_of(many.racks, many.feeds, 10)[:5] == feeds_of(few.racks, few.feeds, 10)
