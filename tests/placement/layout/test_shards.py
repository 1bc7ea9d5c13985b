"""Jobs whose shard groups are larger than what they could lie in whole."""

from __future__ import annotations

from itertools import product

import numpy as np

from iacgen.placement.choice import choose
from iacgen.placement.layout.shards import by_group
from iacgen.placement.tiers import Tiers
from iacgen.training.traffic import NodeGrid, Traffic

TRAFFIC = Traffic(data=1.0, context=0.0, pipeline=0.0, expert=0.0, pipeline_ring=False, shard=8.0)


def test_rows_are_shard_groups_and_columns_what_stands_in_the_same_place_of_each():
    """Node t + T (place + size copy), written down place by place."""
    for tensor, size, copies, stages in product((1, 2), (2, 3, 6), (2, 4), (1, 3)):
        context = 2 if size % 2 == 0 else 1
        groups = by_group(NodeGrid(context, size * copies // context, stages, tensor=tensor, shard=size))
        assert (groups.row, groups.pipeline, groups.context, groups.tensor) == (size * tensor, copies * stages, context, tensor)
        nodes = np.arange(groups.nodes).reshape(groups.pipeline, groups.row)
        for stage, copy, place, t in product(range(stages), range(copies), range(size), range(tensor)):
            assert nodes[copy + copies * stage, t + tensor * place] == t + tensor * (place + size * (copy + copies * stage))


def test_jobs_without_shard_groups_stay_as_they_are():
    assert by_group(NodeGrid(1, 8, 2)) is None


def test_rings_between_groups_lie_in_leaves_of_their_own_where_that_costs_less():
    """Two stages, rings of 16 hosts between groups of 4, leaves of 16 at 16:1: a leaf with one ring sends a byte from each host to its group,
    16 s, where four groups in a leaf send four rings of 16 bytes on, 64 s, and half of eight groups two of them and eight bytes, 40 s."""
    leaf = np.repeat(np.arange(8), 16)
    tiers = Tiers(("leaf",), (tuple(f"leaf{i}" for i in range(8)),), leaf[None], (np.full(8, 1.0),), np.array([0.95, 0.85]))
    made = choose(tiers, NodeGrid(1, 64, 2, shard=4), Traffic(16.0, 0.0, 0.001, 0.0, False, shard=1.0))
    kinds = {family.family: family for family in made.cost.families}
    assert (kinds["dp"].slowest_tier, kinds["fs"].slowest_tier, kinds["fs"].congestion_s) == (None, "leaf", 16.0)
    assert made.by_name.total_s > 1.9 * made.cost.total_s >= 1.9 * made.bound.seconds


def test_a_pod_of_three_large_groups_is_cut_across_them_when_its_uplinks_are_few():
    """Pods of 96 hosts at 7:1: three groups of 32 side by side send a ring each from 32 places, 32 / (96 / 7) = 2.3 s. A rectangle of groups and
    places sends the slowest flow's 1 / 0.78 s alone, and of the groups no more than theirs."""
    leaf = np.repeat(np.arange(24), 16)
    tiers = Tiers(
        ("leaf", "pod"),
        (tuple(f"leaf{i}" for i in range(24)), tuple(f"pod{i}" for i in range(4))),
        np.stack([leaf, leaf // 6]),
        (np.full(24, 16.0), np.full(4, 96 / 7)),
        np.array([0.95, 0.85, 0.78]),
    )
    made = choose(tiers, NodeGrid(1, 384, 1, shard=32), TRAFFIC)
    slowest = 0.4 * 1 / 0.78 + 0.4 * 8 / 0.78
    assert made.cost.total_s <= slowest * (1 + 1e-9) and made.bound.proves(made.cost.total_s)
    assert made.by_name.total_s > made.cost.total_s


def test_groups_larger_than_those_of_a_dragonfly_are_dealt_over_its_links():
    """Groups of 36 hosts, 1.6 host rates from each to each other: sorted names send 36 rings from one to the next but one."""
    labels = np.repeat(np.arange(16), 36)
    tiers = Tiers(("group",), (tuple(f"group{i}" for i in range(16)),), labels[None], (np.full(16, np.inf),), np.array([0.95, 0.85]), pair_Bps=np.full((16, 16), 1.6))
    made = choose(tiers, NodeGrid(1, 512, 1, shard=64), TRAFFIC)
    assert made.by_name.total_s > 2 * made.cost.total_s
    assert made.cost.total_s <= 1.15 * made.bound.seconds
