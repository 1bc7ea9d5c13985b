"""FSDP's hybrid sharding, from a blueprint to hosts in rank order."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from iacgen.ordering import data, ordered, text
from iacgen.pipeline import run
from iacgen.targets.report.assumptions import assumptions
from iacgen.targets.report.jobs import section
from iacgen.training import NodeGrid

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/placement.schema.json").read_text(encoding="utf-8"))

CLUSTER = """
kind: Cluster
schema: 1
name: dealt
sites:
  hall: {{kind: on-prem, rack: {{power: 42kW, units: 48}}}}
nodes:
  gpu: {{site: hall, system: dgx-h100, count: {count}}}
  ufm: {{site: hall, system: generic-1u, count: 2}}
fabrics:
  compute:
    site: hall
    purpose: compute
    connects: [gpu]
    technology: infiniband
    topology: rail-fat-tree
    switch: qm9700
    unit: {unit}
    numbering: round-robin
    oversubscription: 2
    manager: {{kind: ufm, pool: ufm}}
training:
  job:
    model: llama-3-8b
    nodes: gpu
    count: {job}
    sequence: 8192
    global_batch: {batch}
    recompute: full
    framework: fsdp
    zero: 3
    {shards}
"""


def project(shards="", job=32, count=32, unit=8):
    """Hosts whose names are dealt over units, under uplinks of 2:1."""
    state = run(CLUSTER.format(shards=shards, job=job, count=count, unit=unit, batch=8 * job).encode(), "dealt.yaml")
    assert state.project, state.findings
    return state.project


def placed(*args):
    """(design, job, placement)."""
    made = project(*args)
    return made.design, made.jobs["job"], made.placements["job"]


def leaves_of_groups(designed, placement, hosts):
    """How many leaf groups each run of so many hosts, in rank order, lies in."""
    leaf = [designed.fabrics["compute"].group_of[host] for host in placement.hosts]
    return [len(set(leaf[i : i + hosts])) for i in range(0, len(leaf), hosts)]


@pytest.mark.parametrize(("job", "count", "unit"), [(32, 32, 8), (24, 30, 10)])
def test_shard_groups_stay_in_leaves_where_they_fit(job, count, unit):
    """Groups of 32 GPUs on four hosts; of ten hosts in a unit eight hold two groups and two idle."""
    designed, planned, placement = placed("shard_group: 32", job, count, unit)
    assert planned.grid == NodeGrid(1, job, 1, shard=4)
    assert set(leaves_of_groups(designed, placement, 4)) == {1}
    by_family = {span.family: span for span in placement.spans}
    assert (by_family["fs"].groups, by_family["dp"].groups) == (job // 4, 4)
    assert by_family["fs"].cut[0] == 0


def test_where_some_must_be_cut_none_costs_less():
    """Units of seven hosts hold one group of four each, and there are six groups. One ring that leaves slows its kind as much as all do, and
    uplinks are no narrower than the slowest flows."""
    _, _, placement = placed("shard_group: 32", 24, 28, 7)
    fs = {family.family: family for family in placement.cost.families}["fs"]
    assert fs.slowest_tier == "leaf" and fs.congestion_s < fs.slowest_s and placement.proved


def test_they_cost_less_than_names_dealt_over_the_leaves_and_none_costs_less():
    _, _, placement = placed("shard_group: 32")
    fs = {family.family: family for family in placement.cost.families}["fs"]
    assert fs.bytes_by_tier[0] == 0 and placement.proved
    assert placement.cost_s < placement.sorted_cost_s
    assert {family.family: family for family in placement.sorted_cost.families}["fs"].bytes_by_tier[0] > 0


def test_fewer_bytes_leave_a_leaf_than_with_one_copy_of_the_states():
    assert placed("shard_group: 32")[2].cost.cross_leaf_bytes < placed()[2].cost.cross_leaf_bytes


def test_a_group_within_a_host_leaves_the_all_reduce_alone():
    _, planned, placement = placed("shard_group: 8")
    assert (planned.grid, planned.traffic.shard) == (NodeGrid(1, 32, 1), 0)
    assert [family.family for family in placement.cost.families] == ["dp"]


def words(shards):
    """What `place` and the report say: (words, JSON, the report's rows of traffic, its assumptions)."""
    made = project(shards)
    orderings = ordered(made.design, made.jobs, {"job": "gpu"})[0]
    rows = section(made.jobs["job"], made.placements["job"], made.design).traffic.rows
    return "\n".join(text(orderings)), data("dealt", orderings), [row[0] for row in rows], "\n".join(assumptions(made))


def test_they_stand_in_words_in_json_and_in_the_report_of_jobs_that_have_them():
    said, told, rows, assumed = words("shard_group: 32")
    jsonschema.validate(told, SCHEMA, cls=jsonschema.Draft202012Validator)
    (job,) = told["jobs"]
    assert job["grid"]["shard"] == 4 and [family["family"] for family in job["cost"]["families"]] == ["dp", "fs"]
    assert rows == ["data parallel", "shards of the states"]
    # two tables, the bound and the weights
    assert " ".join(said.split()).count("shards of the states") == 4 and assumed.count("shards of the states") == 1
    assert any("shards of the states 0.4" in sentence for sentence in told["assumptions"])


def test_other_jobs_say_nothing_of_them():
    said, told, rows, assumed = words("")
    assert told["jobs"][0]["grid"]["shard"] == 1 and rows == ["data parallel"]
    assert not any("shards of the states" in words for words in (said, assumed, *told["assumptions"]))
