"""A host fails under an order that runs: its ranks go to one near by, and nobody else's move."""

from dataclasses import replace
from pathlib import Path

import pytest

from iacgen.pipeline import run
from iacgen.placement import place
from iacgen.placement.failover import failover

BLUEPRINTS = Path(__file__).parents[2] / "blueprints"


@pytest.fixture(scope="module")
def superpod():
    return run((BLUEPRINTS / "superpod-h100.yaml").read_bytes(), "x", judge=False).project


def leaf_of(fabric, host):
    return next(group.name for group in fabric.groups if host in group.hosts)


def test_ranks_of_a_failed_host_alone_move(superpod):
    job, now = superpod.jobs["pretrain"], superpod.placements["pretrain"]
    for failed in (now.hosts[0], now.hosts[57], now.hosts[-1]):
        change, findings = failover(superpod.design, "gpu", job, now, [failed])
        assert not findings
        spare = next(idle.host for idle in now.idle if idle.why == "spare")
        assert change.after.hosts == tuple(spare if host == failed else host for host in now.hosts)  # the only host that is free
        (move,) = change.after.moves
        assert (now.hosts[move.node], move.out, move.into) == (failed, failed, spare)
        assert change.after.unmoved_cost == now.cost
        assert {idle.host: idle.why for idle in change.after.idle} == {failed: "down"}
        assert change.after.cost_s >= change.after.bound_s * (1 - 1e-9) and change.anew.total_s <= change.after.cost_s * (1 + 1e-9)


def test_the_host_that_takes_over_is_of_the_same_leaf_where_one_is_free(superpod):
    job, now, fabric = superpod.jobs["finetune"], superpod.placements["finetune"], superpod.design.fabrics["compute"]
    idle = {leaf_of(fabric, i.host) for i in now.idle}
    near = [host for host in now.hosts if leaf_of(fabric, host) in idle]
    for failed in near[:3]:
        change, _ = failover(superpod.design, "gpu", job, now, [failed])
        assert leaf_of(fabric, change.after.moves[0].into) == leaf_of(fabric, failed) and change.shared == ("leaf",)


RACKS = """
kind: Cluster
schema: 1
name: nvl
sites: {hall: {kind: on-prem, rack: {power: 160kW, units: 48}}}
nodes:
  gpu: {site: hall, system: dgx-gb200, count: 36, spares: 0}
  ctl: {site: hall, system: generic-1u-ndr, count: 1}
fabrics:
  compute: {site: hall, purpose: compute, connects: [gpu], technology: infiniband, topology: rail-fat-tree, switch: qm9700, manager: {kind: opensm, pool: ctl}}
  mgmt: {site: hall, purpose: management, connects: [gpu, ctl], technology: ethernet, topology: fat-tree, switch: sn2201, subnet: 10.0.0.0/16}
training:
  job: {model: llama-3-8b, nodes: gpu, count: 32, sequence: 8192, global_batch: 256, framework: megatron, recompute: full, parallel: {tensor: 8}}
"""


def test_a_host_of_a_rack_is_replaced_in_its_rack():
    """Racks of 18 hosts, tensor groups of two: 16 hosts of each rack have ranks, so each has two to spare."""
    project = run(RACKS, "nvl.yaml", judge=False).project
    job, now, pool = project.jobs["job"], project.placements["job"], project.design.pools["gpu"]
    for failed in (now.hosts[0], now.hosts[31]):
        change, _ = failover(project.design, "gpu", job, now, [failed])
        assert change.shared == ("nvlink",)
        assert pool.index(change.after.moves[0].into) // 18 == pool.index(failed) // 18


FULL = """
kind: Cluster
schema: 1
name: nvl
sites: {s: {kind: on-prem, rack: {power: 200kW}}}
nodes:
  gpu: {site: s, system: dgx-gb200, count: 144, spares: 8}
  ctl: {site: s, system: generic-1u, count: 2}
fabrics:
  compute: {site: s, purpose: compute, connects: [gpu], technology: infiniband, topology: rail-fat-tree, unit: 18, switch: qm9700, manager: {kind: opensm, pool: gpu}}
  mgmt: {site: s, purpose: management, connects: [gpu, ctl], technology: ethernet, switch: sn2201}
training:
  job: {model: llama-3.1-405b, nodes: gpu, count: 126, sequence: 4096, global_batch: 252, micro_batch: 1, gradients: bf16, framework: megatron, parallel: {tensor: 8, pipeline: 9, virtual: 7}}
"""


@pytest.mark.parametrize("racks", [(0,), (0, 1), (0, 1, 2)])
def test_a_tensor_group_moves_whole_where_its_rack_is_full(racks):
    """Hosts fail in racks where all 18 have ranks, and 18 idle in others: the two trays of a group go there together, and nobody else's do."""
    project = run(FULL, "nvl.yaml", judge=False).project
    job, now, pool = project.jobs["job"], project.placements["job"], project.design.pools["gpu"]
    rack = [pool.index(host) // 18 for host in now.hosts]
    full = [r for r in dict.fromkeys(rack) if rack.count(r) == 18]
    assert len(full) > len(racks)
    failed = [next(host for host, r in zip(now.hosts, rack, strict=True) if r == full[n]) for n in racks]
    change, findings = failover(project.design, "gpu", job, now, failed)
    assert not findings
    after = change.after.hosts
    groups = {now.hosts.index(host) // 2 for host in failed}
    assert {n // 2 for n, (a, b) in enumerate(zip(now.hosts, after, strict=True)) if a != b} == groups
    assert all(pool.index(a) // 18 == pool.index(b) // 18 for a, b in zip(after[::2], after[1::2], strict=True))
    assert len(set(after)) == 126 and not set(failed) & set(after)


def test_an_idle_host_that_fails_moves_no_rank(superpod):
    job, now = superpod.jobs["pretrain"], superpod.placements["pretrain"]
    change, _ = failover(superpod.design, "gpu", job, now, [now.idle[0].host])
    assert change.after.hosts == now.hosts and not change.after.moves and change.generated
    assert [idle.why for idle in change.after.idle] == ["down"]


def test_hosts_that_were_down_before_stay_replaced(superpod):
    """The order that runs counts, also where it was made for a pool with failures; a second failure moves the second host alone."""
    job = superpod.jobs["finetune"]
    pool = superpod.design.pools["gpu"]
    first = superpod.placements["finetune"].hosts[4]
    design = replace(superpod.design, pools={**superpod.design.pools, "gpu": replace(pool, down=frozenset({first}))})
    now, _ = place(design, "gpu", job)
    second = now.hosts[20]
    change, _ = failover(design, "gpu", job, now, [second])
    assert [move.out for move in change.after.moves] == [second]
    assert [a for a, b in zip(now.hosts, change.after.hosts, strict=True) if a != b] == [second]
    assert {idle.host for idle in change.after.idle if idle.why == "down"} == {first, second}


def test_two_failures_where_one_host_is_free(superpod):
    job, now = superpod.jobs["pretrain"], superpod.placements["pretrain"]
    change, findings = failover(superpod.design, "gpu", job, now, now.hosts[:2])
    assert change is None and [f.slug for f in findings] == ["too-few-hosts"]


def test_generate_writes_the_same_order_once_the_host_is_down(superpod):
    job, now = superpod.jobs["pretrain"], superpod.placements["pretrain"]
    failed = now.hosts[3]
    change, _ = failover(superpod.design, "gpu", job, now, [failed])
    pool = superpod.design.pools["gpu"]
    design = replace(superpod.design, pools={**superpod.design.pools, "gpu": replace(pool, down=frozenset({failed}))})
    written, _ = place(design, "gpu", job)
    assert (written.hosts == change.after.hosts) == change.generated


def test_a_host_of_no_such_name(superpod):
    with pytest.raises(ValueError, match="pool gpu has no host gpu9999"):
        failover(superpod.design, "gpu", superpod.jobs["pretrain"], superpod.placements["pretrain"], ["gpu9999"])
