"""A fabric that was found, as tiers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from iacgen.design.fabric.hierarchy import Hierarchy
from iacgen.placement.ground import islands, tiers_of

TREE = Hierarchy("t", ("a", "b", "c", "d", "e"), ("leaf", "spine"), (("l1", "l2", "l3"), ("s1", "s2")), np.array([[0, 0, 1, 2, 2], [0, 0, 0, 1, 1]]))


def test_of_parts_that_nothing_joins_the_one_with_most_hosts_that_are_up_is_taken():
    part, apart = islands(TREE, 2, ())
    assert (part.hosts, apart) == (("a", "b", "c"), ("d", "e"))
    part, apart = islands(TREE, 2, {"a", "b"})
    assert (part.hosts, apart) == (("d", "e"), ("a", "b", "c"))
    joined = replace(TREE, tiers=("leaf",), groups=(("l1",),), labels=np.zeros((1, 5), dtype=np.int64), uplink_Bps=())
    assert islands(joined, 2, ()) == (joined, ())


def test_a_last_tier_of_one_group_is_left_out_and_uplinks_nobody_told_limit_nothing():
    one = replace(TREE, tiers=("leaf", "root"), groups=(TREE.groups[0], ("r",)), labels=np.vstack([TREE.labels[0], np.zeros(5, dtype=np.int64)]), uplink_Bps=())
    tiers = tiers_of(one, 100.0, np.inf)
    assert tiers.names == ("leaf",) and np.isinf(tiers.uplink_Bps[0]).all()
    assert tiers.flow_Bps.tolist() == pytest.approx([95.0, 85.0])
    with pytest.raises(ValueError, match="rate"):
        tiers_of(one, None, np.inf)


def test_hosts_of_one_nvlink_domain_share_a_number_and_others_have_their_own():
    tiers = tiers_of(replace(TREE, domains=("x", "x", None, None, "y")), 100.0, 900.0)
    assert tiers.nvlink_Bps == 900.0
    assert tiers.domain.tolist() == [0, 0, 1, 2, 3]


def test_hosts_with_other_gpus_are_told_apart():
    assert tiers_of(replace(TREE, gpus=("H100",) * 5), 100.0, np.inf).kind is None
    tiers = tiers_of(replace(TREE, gpus=("H100", "A100", None, "H100", "A100")), 100.0, np.inf)
    assert tiers.kind.tolist() == [2, 1, 0, 2, 1]
    assert tiers_of(replace(TREE, gpus=("H100", "A100", None, "H100", "A100")).only(("d", "b")), 100.0, np.inf).kind.tolist() == [1, 0]
