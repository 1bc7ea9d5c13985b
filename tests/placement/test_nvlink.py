"""Hosts that NVLink joins: what stays in their domain crosses no switch, and a tensor group stays in one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from iacgen.pipeline import run
from iacgen.placement.choice import choose
from iacgen.placement.cost import cost
from iacgen.placement.detours import detours
from iacgen.placement.layout import candidates
from iacgen.placement.tiers import Tiers
from iacgen.training.links import node_rates
from iacgen.training.traffic import NodeGrid, Traffic

HALL = """
kind: Cluster
schema: 1
name: nvl
sites: {hall: {kind: on-prem, rack: {power: 160kW, units: 48}}}
nodes:
  gpu: {site: hall, system: dgx-gb200, count: 36, spares: 0, down: [%s]}
  ctl: {site: hall, system: generic-1u-ndr, count: 1}
fabrics:
  compute: {site: hall, purpose: compute, connects: [gpu], technology: infiniband, topology: rail-fat-tree, switch: qm9700, manager: {kind: opensm, pool: ctl}}
  mgmt: {site: hall, purpose: management, connects: [gpu, ctl], technology: ethernet, topology: fat-tree, switch: sn2201, subnet: 10.0.0.0/16}
training:
  job: {model: %s, nodes: gpu, count: %d, sequence: 8192, global_batch: %d, framework: megatron, recompute: full, parallel: {tensor: %d, pipeline: %d}}
"""
ALONE = Tiers(("leaf",), (("a", "b"),), np.array([[0, 0, 0, 1, 1, 1]]), (np.array([10.0, 10.0]),), np.array([2.0, 1.0]))
RACKS = replace(ALONE, domain=np.array([0, 0, 1, 1, 2, 2]), nvlink_Bps=50.0)  # the second rack hangs on both leaves


def job(tensor, pipeline=1, count=36, down="", model="llama-3-8b", batch=None):
    return run(HALL % (down, model, count, batch or 4 * count * 4 // (tensor * pipeline), tensor, pipeline), "nvl.yaml")


def test_a_ring_in_one_rack_takes_nvlink_even_where_two_leaves_hold_it():
    (ring,) = cost(RACKS, NodeGrid(1, 2, 1), Traffic(100.0, 0, 0, 0, False), np.array([2, 3])).families
    assert (ring.slowest_s, ring.bytes_by_tier, ring.inside, ring.slowest_tier) == (100 / 50, (0.0,), True, None)
    (ring,) = cost(ALONE, NodeGrid(1, 2, 1), Traffic(100.0, 0, 0, 0, False), np.array([2, 3])).families
    assert (ring.slowest_s, ring.bytes_by_tier, ring.inside, ring.slowest_tier) == (100 / 1, (200.0,), False, "leaf")


def test_a_ring_over_racks_leaves_each_by_the_adapters_of_all_its_hosts():
    """Six hosts, three racks: two members each, so twice a host's rate; the edges 1-2 and 5-0 cross racks, and 5-0 and none else leaves
    (1 and 2 hang on leaf a), beside 3-4 on leaf b."""
    (ring,) = cost(RACKS, NodeGrid(1, 6, 1), Traffic(100.0, 0, 0, 0, False), np.arange(6)).families
    assert (ring.slowest_s, ring.bytes_by_tier) == (100 / (2 * 1.0), (100.0,))


def test_stages_and_experts_pay_for_what_leaves_their_rack():
    (chain,) = cost(RACKS, NodeGrid(1, 1, 2), Traffic(0, 0, 100.0, 0, False), np.array([0, 1])).families
    assert (chain.slowest_s, chain.inside) == (2.0, True)
    (chain,) = cost(RACKS, NodeGrid(1, 1, 2), Traffic(0, 0, 100.0, 0, False), np.array([1, 2])).families
    assert (chain.slowest_s, chain.inside) == (50.0, False)
    (experts,) = cost(RACKS, NodeGrid(1, 3, 1, 3), Traffic(0, 0, 0, 100.0, False), np.array([0, 1, 2])).families
    assert experts.slowest_s == pytest.approx(50 / 2 + 50 / 2)  # host 2 sends both halves over its adapters; 0 only one of them
    assert experts.bytes_by_tier == (0.0,)


def test_no_order_splits_a_tensor_group():
    grid = NodeGrid(1, 2, 1, tensor=2)
    with pytest.raises(ValueError, match="two NVLink domains"):
        cost(RACKS, grid, Traffic(1.0, 0, 0, 0, False), np.array([1, 2, 3, 4]))
    hurt = replace(RACKS, labels=RACKS.labels[:, 1:], domain=RACKS.domain[1:])  # the first host is down: its neighbour idles
    assert {tuple(sorted(order[i : i + 2])) for order in candidates(hurt, grid) for i in (0, 2)} == {(1, 2), (3, 4)}
    chosen = choose(hurt, grid, Traffic(1.0, 0, 0, 0, False))
    assert sorted(chosen.order) == [1, 2, 3, 4] and chosen.by_name.families
    with pytest.raises(LookupError):
        choose(replace(RACKS, labels=RACKS.labels[:, ::2], domain=RACKS.domain[::2]), NodeGrid(1, 1, 1, tensor=2), Traffic(0, 0, 0, 0, False))


def test_tensor_may_span_the_hosts_of_a_rack_and_no_more():
    state = job(8)
    assert state.project and state.project.jobs["job"].grid == NodeGrid(1, 18, 1, 1, 2)
    hosts = state.project.placements["job"].hosts
    assert all((int(a[3:]) - 1) // 18 == (int(b[3:]) - 1) // 18 for a, b in zip(hosts[::2], hosts[1::2], strict=True))
    (refused,) = [f for f in job(16, model="llama-3-70b").findings if f.slug == "tensor-leaves-node"]
    assert refused.help == "use 1, 2, 4, 8, 12, 24, 36, 72"


def test_a_host_down_in_each_rack_leaves_whole_groups_only():
    (split,) = [f for f in job(8, count=34, down="gpu0003, gpu0020").findings if f.severity == "error"]
    assert (split.id, split.path) == ("IAC404", ("training", "job", "parallel", "tensor"))
    assert "needs 17 tensor groups of 2 hosts" in split.message and "hold 16" in split.message
    assert job(8, count=32, down="gpu0003, gpu0020").project


@pytest.mark.parametrize(("tensor", "pipeline"), [(4, 1), (8, 1), (4, 2)])
def test_the_step_and_the_placement_give_one_rack_the_same_rate(tensor, pipeline):
    """In one rack nothing has a detour: both rooms say NVLink."""
    state = job(tensor, pipeline, count=18)
    one, placement = state.jobs["job"], state.project.placements["job"]
    found = detours(placement.cost, one.traffic, 1.0, node_rates(one.spec))
    assert found and all(f.inside for f in placement.cost.families) and list(found.values()) == pytest.approx([1.0] * len(found))


def test_a_host_of_its_own_keeps_the_rate_of_its_adapters():
    state = run((Path(__file__).parents[2] / "blueprints/lab.yaml").read_text(), "lab.yaml")
    assert node_rates(state.jobs["pretrain"].spec) == {}
