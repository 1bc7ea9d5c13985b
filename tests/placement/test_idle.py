"""Which idle hosts stand by, and what is said of the others."""

from __future__ import annotations

import numpy as np

from iacgen.placement.choice import choose
from iacgen.placement.idle import idle_hosts, standby
from iacgen.placement.tiers import Tiers
from iacgen.training.traffic import NodeGrid, Traffic

LEAF = np.repeat(np.arange(6), 4)
TIERS = Tiers(("leaf", "pod"), (tuple("abcdef"), ("p", "q", "r")), np.stack([LEAF, LEAF // 2]), (np.full(6, 4.0), np.full(3, 4.0)), np.array([0.95, 0.85, 0.78]))
NAMES = [f"n{i}" for i in range(24)]


def test_each_pod_of_the_job_has_a_spare_before_any_has_two():
    order = np.array([0, 1, 2, 8, 9])
    free = np.setdiff1d(np.arange(24), order)
    first = standby(TIERS, order, free, 2)
    assert sorted(TIERS.labels[1][first].tolist()) == [0, 1]
    assert sorted(TIERS.labels[1][standby(TIERS, order, free, 4)].tolist()) == [0, 0, 1, 1]


def test_the_reason_is_where_the_host_lies():
    idle = idle_hosts(TIERS, np.arange(6), NAMES, 1, {"x": "down"}, [*NAMES, "x"])
    why = {host.host: host.why for host in idle}
    assert why["x"] == "down" and list(why) == [*NAMES[6:], "x"]
    assert [why[name] for name in NAMES[6:9]] == ["left over", "spare", "not needed"] or [why[name] for name in NAMES[6:9]] == ["left over", "left over", "not needed"]
    assert sum(reason == "spare" for reason in why.values()) == 1


def test_a_pod_that_could_be_filled_keeps_a_host_to_spare_when_that_costs_nothing():
    """Two pods of eight; a ring of fourteen costs the same as seven and seven, or as eight and six."""
    tiers = TIERS.only(np.arange(16))
    chosen = choose(tiers, NodeGrid(1, 14, 1), Traffic(1.0, 0.0, 0.0, 0.0, False))
    assert np.bincount(tiers.labels[1][chosen.order]).tolist() == [7, 7]
