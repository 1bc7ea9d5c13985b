"""Planned fabrics as their hosts see them: held to a walk over every cable of the same plan."""

from __future__ import annotations

import math
from collections import defaultdict
from functools import cache

import numpy as np
import pytest

from iacgen.design.fabric.planned import of_fabric
from iacgen.paths import data_folder
from iacgen.pipeline import run

HALL = """kind: Cluster
schema: 1
name: seen
sites: {{hall: {{kind: on-prem, rack: {{power: 160kW, units: 48}}}}}}
nodes:
  gpu: {{site: hall, system: {system}, count: {count}}}
fabrics:
  compute: {{site: hall, purpose: compute, connects: [gpu], technology: infiniband, topology: {topology}, switch: qm9700{more}, manager: {{kind: opensm, pool: gpu}}}}
"""


@cache
def design(system, count, topology, more=""):
    state = run(HALL.format(system=system, count=count, topology=topology, more=more), "seen.yaml")
    assert state.design, state.findings
    return state.design


def walked(fabric):
    """(leaves of a host by its name, neighbours of a switch by name with Gb/s to each), from the list of cables."""
    leaves, beside = defaultdict(set), defaultdict(lambda: defaultdict(int))
    for cable in fabric.wiring():
        if cable.joins == "host-leaf":
            leaves[cable.a].add(cable.b)
        elif cable.joins != "manager-leaf":
            beside[cable.a][cable.b] += cable.gbps
            beside[cable.b][cable.a] += cable.gbps
    return leaves, beside


@pytest.mark.parametrize(("count", "topology", "more"), [(100, "rail-fat-tree", ", unit: 32"), (40, "fat-tree", ""), (300, "fat-tree", ""), (20, "rail-fat-tree", "")])
def test_tiers_are_those_of_the_cables(count, topology, more):
    fabric = design("dgx-h100", count, topology, more).fabrics["compute"]
    seen, (leaves, beside) = of_fabric(fabric), walked(fabric)
    assert seen.hosts == fabric.hosts and sorted(seen.hosts) == sorted(leaves)
    # Hosts share a leaf group exactly when they hang on the same leaves, and what leaves it is what its leaves are joined by.
    by_label = defaultdict(set)
    for host, label in zip(seen.hosts, seen.labels[0], strict=True):
        by_label[label].add(frozenset(leaves[host]))
    assert all(len(sets) == 1 for sets in by_label.values()) and len(set().union(*by_label.values())) == len(by_label)
    for label, (switches,) in by_label.items():
        assert seen.uplink_Bps[0][label] == pytest.approx(sum(sum(beside[leaf].values()) for leaf in switches) * 1e9 / 8)
    # One group at the top joins all: some spine or core reaches every leaf.
    assert seen.islands == 1 and seen.groups[-1] == ("compute-" + seen.tiers[-1],)
    assert seen.node_Bps == 8 * 400e9 / 8


def test_pods_are_the_leaves_that_share_spines():
    fabric = design("dgx-h100", 2560, "fat-tree").fabrics["compute"]
    seen, (leaves, beside) = of_fabric(fabric), walked(fabric)
    assert seen.tiers == ("leaf", "pod", "top") and len(seen.groups[1]) > 1
    spines, cores = set(fabric.spines), set(fabric.cores)
    above = {host: frozenset(s for leaf in leaves[host] for s in beside[leaf] if s in spines) for host in seen.hosts}
    pods = defaultdict(set)
    for host, label in zip(seen.hosts, seen.labels[1], strict=True):
        pods[label].add(above[host])
    joined = {label: frozenset().union(*sets) for label, sets in pods.items()}
    assert sum(len(s) for s in joined.values()) == len(spines)  # no two pods share a spine
    for label, some in joined.items():
        assert seen.uplink_Bps[1][label] == pytest.approx(sum(g for s in some for other, g in beside[s].items() if other in cores) * 1e9 / 8)


def test_each_group_lies_in_one_of_the_next_tier():
    seen = of_fabric(design("dgx-h100", 2560, "fat-tree").fabrics["compute"])
    for below, above in zip(seen.labels, seen.labels[1:], strict=False):
        assert all(len(set(above[below == group])) == 1 for group in np.unique(below))


def test_hosts_are_those_asked_for_in_their_order():
    fabric = design("dgx-h100", 100, "rail-fat-tree", ", unit: 32").fabrics["compute"]
    some = ("gpu0070", "gpu0001", "gpu0099")
    seen, whole = of_fabric(fabric, some), of_fabric(fabric)
    assert seen.hosts == some and seen.groups == whole.groups
    assert (seen.labels == whole.only(some).labels).all()
    with pytest.raises(KeyError):
        of_fabric(fabric, ["gpu0101"])


def test_racks_of_nvlink_are_domains_whatever_leaf_they_hang_on():
    """GB200 NVL72: 18 hosts of 4 GPUs a rack (NVIDIA, DGX GB200 reference architecture)."""
    built = design("dgx-gb200", 40, "rail-fat-tree")
    seen = of_fabric(built.fabrics["compute"], None, built.pools)
    assert dict.fromkeys(seen.domains) == {f"nvlink-gpu-{n}": None for n in (1, 2, 3)}
    assert [seen.domains.count(f"nvlink-gpu-{n}") for n in (1, 2, 3)] == [18, 18, 4]
    assert of_fabric(built.fabrics["compute"]).domains == ()
    plain = design("dgx-h100", 20, "rail-fat-tree")
    assert of_fabric(plain.fabrics["compute"], None, plain.pools).domains == ()


def test_what_nothing_joins_stays_apart():
    state = run((data_folder("blueprints") / "aws-p5.yaml").read_text(), "aws.yaml")
    (fabric,) = [f for f in state.design.fabrics.values() if f.purpose == "compute"]
    seen = of_fabric(fabric)
    assert (seen.tiers, seen.groups, seen.islands) == (("leaf",), (("gpu-placement",),), 1)
    assert all(math.isinf(rate) for rate in seen.uplink_Bps[0])
