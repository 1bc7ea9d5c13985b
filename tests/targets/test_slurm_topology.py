"""Trees, blocks and topology.yaml from hierarchies: held to groups that are written down by hand, and to Slurm's own rules of the format."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from iacgen.design.fabric.hierarchy import Hierarchy
from iacgen.diagnostics import Diagnostic
from iacgen.pipeline import run
from iacgen.targets import slurm
from iacgen.targets.slurm.blocks import Blocks, blocks, runs, sizes
from iacgen.targets.slurm.topology import tree
from iacgen.targets.slurm.topology_files import topology_files
from iacgen.verify.slurm.expected import implied, read
from iacgen.verify.slurm.files import expand, lines
from iacgen.verify.slurm.rules import check_topology

CASES = Path(__file__).parents[1] / "cases" / "slurm"


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"iacgen_tests_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return module


hierarchies = _module("hierarchies")
made = hierarchies.made


def below(text: str) -> dict[str, frozenset[str]]:
    """Switch → all hosts below it, from the lines of a topology.conf."""
    parsed = {line.get("SwitchName"): line for line in lines(text)}

    def hosts(name):
        line = parsed[name]
        return frozenset(expand(line.get("Nodes"))) if line.get("Nodes") else frozenset().union(*(hosts(child) for child in expand(line.get("Switches"))))

    return {name: hosts(name) for name in parsed}


@pytest.mark.parametrize("case", hierarchies.cases(), ids=lambda case: case.id)
def test_slurm_s_tree_has_the_groups_of_the_fabric(case):
    found = tree([case.hierarchy])
    text = topology_files("any", [case.hierarchy], (24, 11))["topology.conf"]
    assert below(text) == case.tree
    assert found.roots == case.roots
    assert check_topology(text, case.hierarchy.hosts, (24, 11), len(case.roots)) == []


def test_names_are_told_apart_over_fabrics_too():
    one, other = (made(name, {"leaf": {"su1": hosts}, "spine": {"top": hosts}}) for name, hosts in (("a", "n[1-2]"), ("b", "m[1-2]")))
    text = topology_files("any", [one, other], (24, 11))["topology.conf"]
    assert below(text) == {"su1": {"n1", "n2"}, "top": {"n1", "n2"}, "su1-leaf": {"m1", "m2"}, "top-spine": {"m1", "m2"}}
    assert "No switch joins top, top-spine" in text


GB200 = """kind: Cluster
schema: 1
name: units
sites: {{hall: {{kind: on-prem, rack: {{power: 160kW, units: 48}}}}}}
nodes:
  gpu: {{site: hall, system: dgx-gb200, count: {count}}}
  ctl: {{site: hall, system: generic-1u, count: 1}}
fabrics:
  compute: {{site: hall, purpose: compute, connects: [gpu], technology: roce, topology: rail-fat-tree, unit: {unit}, switch: sn5600}}
  mgmt: {{site: hall, purpose: management, connects: [gpu, ctl], technology: ethernet, topology: fat-tree, switch: sn2201}}
scheduler: {{kind: slurm, version: "24.11", controllers: ctl}}
"""


@pytest.mark.parametrize(("count", "unit", "levels"), [(80, 36, {18: 4, 8: 1, 36: 2, 80: 1}), (72, 18, {18: 4, 72: 1}), (72, 20, {18: 4, 72: 1})])
def test_units_stay_where_they_hold_whole_racks(count, unit, levels):
    """Racks of 18 in units of two, in units of one, and across units of 20. What hangs on the cables says the same."""
    state = run(GB200.format(count=count, unit=unit), "units.yaml")
    assert state.project, state.findings
    text = slurm.render(state.project)["slurm/topology.conf"]
    found = [len(hosts) for hosts in below(text).values()]
    assert {size: found.count(size) for size in set(found)} == levels
    assert read(text)[0] == implied(state.project.design)


NVL = made("nvl", {"leaf": {"a": "n[1-6]", "b": "n[7-12]"}, "spine": {"s": "n[1-12]"}}, {"x": "n[1-4]", "y": "n[5-8]", "z": "n[9-12]"})


def test_blocks_are_the_domains_in_their_order():
    text = topology_files("any", [NVL], (24, 11), "block")["topology.conf"]
    assert [(line.get("BlockName"), line.get("Nodes")) for line in lines(text) if line.kind == "blockname"] == [("block1", "n[1-4]"), ("block2", "n[5-8]"), ("block3", "n[9-12]")]
    assert [line.get("BlockSizes") for line in lines(text) if line.kind == "blocksizes"] == ["4,8"]
    assert "# block2=y\n" in text


@pytest.mark.parametrize(
    ("members", "version", "planned"),
    [
        ([3, 3], (24, 11), (3, 6)),
        ([2, 2, 2, 2], (24, 11), (2, 4, 8)),
        ([8] * 12, (24, 11), (8, 16, 32, 64)),
        ([18, 18, 18], (24, 11), (18, 36)),
        ([18, 16, 18], (24, 11), (16, 32)),  # before 25.05 slurmctld ends at a block below the first size
        ([18, 16, 18], (25, 5), (18, 36)),
        ([18, 1, 1], (25, 5), (1, 2)),
        ([18], (24, 11), (18,)),
    ],
)
def test_sizes_double_from_that_of_a_domain(members, version, planned):
    assert sizes(members, version) == planned


def test_sizes_leave_the_jobs_their_hosts():
    """Sixteen trays of each rack of 18, as expert groups of 16 want them: 29 blocks of 18 would hold them, and they lie in 32."""
    trays = [rack for rack in range(32) for _ in range(16)]
    assert -(-512 // 18) == 29 and -(-512 // 17) == 31
    assert sizes([18] * 32, (24, 11), [trays]) == (16, 32, 64, 128, 256, 512)


@pytest.mark.parametrize(
    ("hierarchy", "version", "why"),
    [
        (made("plain", {"leaf": {"a": "n[1-2]"}}), (24, 11), "no NVLink domain of several hosts is known"),
        (made("half", {"leaf": {"a": "n[1-4]"}}, {"x": "n[1-2]"}), (24, 11), "n[3-4]: in no NVLink domain"),
        (NVL, (23, 11), "Slurm 23.11 has no BlockSizes"),
    ],
)
def test_blocks_that_nobody_can_have_are_told(hierarchy, version, why):
    found = topology_files("any", [hierarchy], version, "block")
    assert isinstance(found, Diagnostic)
    assert (found.id, found.severity) == ("IAC664", "error")
    assert why in found.message


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.data())
def test_no_job_is_refused_under_the_sizes_made_for_it(members, data):
    hosts = [block for block, size in enumerate(members) for _ in range(size)]
    jobs = data.draw(st.lists(st.lists(st.sampled_from(range(len(hosts))), min_size=1, unique=True).map(lambda some: [hosts[i] for i in some]), max_size=3))
    for version in ((24, 11), (26, 5)):
        found = sizes(members, version, jobs)
        assert all(runs(job, found) for job in jobs)
        assert all(size == found[0] << n for n, size in enumerate(found)) and 0 < found[-1] <= sum(members)
        assert version > (25, 0) or found[0] <= min(members)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=60), st.integers(1, 4), st.integers(1, 3))
def test_any_hierarchy_is_a_tree_to_slurm(leaves, per_pod, shift):
    """Any sizes of leaves and pods, with NVLink domains that lie anywhere on them."""
    leaf = np.repeat(np.arange(len(leaves)), leaves)
    labels = np.stack([leaf, leaf // per_pod, np.zeros_like(leaf)])
    hosts = tuple(f"gpu{i:04d}" for i in range(len(leaf)))
    groups = tuple(tuple(f"{word}{i}" for i in range(row.max() + 1)) for word, row in zip(("leaf", "pod", "core"), labels, strict=True))
    domains = tuple(f"nvl{(i + shift) // 7}" if i % 11 else None for i in range(len(hosts)))
    for one in (Hierarchy("any", hosts, ("leaf", "pod", "core"), groups, labels), Hierarchy("any", hosts, ("leaf", "pod", "core"), groups, labels, domains=domains)):
        assert check_topology(topology_files("any", [one], (24, 11))["topology.conf"], hosts, (24, 11)) == []


def of_yaml(text):
    """Topology → its entry. What Slurm 26.05.5 takes without a word, and what ends it: topology.yaml(5), and the daemon's answers to each."""
    entries = yaml.safe_load(text)
    assert isinstance(entries, list)
    assert all(next(iter(entry)) == "topology" and set(entry) in ({"topology", "cluster_default", "tree"}, {"topology", "cluster_default", "block"}) for entry in entries)
    assert len({entry["topology"] for entry in entries}) == len(entries)
    assert [entry["cluster_default"] for entry in entries].count(True) == 1
    return {entry["topology"]: entry for entry in entries}


@pytest.mark.parametrize("case", hierarchies.cases(), ids=lambda case: case.id)
def test_topology_yaml_says_what_topology_conf_says(case):
    files = topology_files("any", [case.hierarchy], (25, 5))
    assert set(files) == {"topology.yaml"}
    switches = of_yaml(files["topology.yaml"])["fabric"]["tree"]["switches"]
    assert all(set(switch) in ({"switch", "nodes"}, {"switch", "children"}) and all(isinstance(word, str) for word in switch.values()) for switch in switches)
    conf = "".join(f"SwitchName={s['switch']} {'Nodes' if 'nodes' in s else 'Switches'}={s.get('nodes', s.get('children'))}\n" for s in switches)
    assert below(conf) == case.tree


def test_topology_yaml_holds_tree_and_domains():
    for plugin in ("tree", "block"):
        entries = of_yaml(topology_files("any", [NVL], (26, 5), plugin)["topology.yaml"])
        assert set(entries) == {"fabric", "nvlink"}
        assert entries["nvlink"]["cluster_default"] == (plugin == "block")
        found = entries["nvlink"]["block"]
        assert found["block_sizes"] == [4, 8]
        assert found["blocks"] == [{"block": f"block{n}", "nodes": nodes} for n, nodes in ((1, "n[1-4]"), (2, "n[5-8]"), (3, "n[9-12]"))]


def test_blocks_of_many_racks_keep_their_order_by_name():
    """From 25.05 on Slurm ranks blocks by name (release notes)."""
    many = made("many", {"leaf": {"a": "n[1-24]"}}, {f"rack{i}": f"n[{2 * i + 1}-{2 * i + 2}]" for i in range(12)})
    found = blocks([many], (25, 5))
    assert isinstance(found, Blocks)
    assert [b.name for b in found.blocks] == sorted(b.name for b in found.blocks)
    assert [b.domain for b in found.blocks] == [f"rack{i}" for i in range(12)]
