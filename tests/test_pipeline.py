"""The whole flow on real blueprints: published sizes, a job that does not fit, everything said in one run, an order that is none."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iacgen.blueprint import resolve
from iacgen.diagnostics import errors
from iacgen.diagnostics.text import render_text
from iacgen.pipeline import run, tree
from iacgen.source import read

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "blueprints").glob("*.yaml"))
# NVIDIA DGX SuperPOD reference architecture, H100: docs.nvidia.com/dgx-superpod/
# reference-architecture-scalable-infrastructure-h100/latest/network-fabrics.html, table 4.
# Scalable units: nodes, GPUs, leaf and spine switches, cables of nodes and UFM, cables between leaf and spine.
SUPERPOD = {1: (31, 248, 8, 4, 252, 256), 2: (63, 504, 16, 8, 508, 512), 3: (95, 760, 24, 16, 764, 768), 4: (127, 1016, 32, 16, 1020, 1024)}


def text(name):
    return (ROOT / "blueprints" / f"{name}.yaml").read_text(encoding="utf-8")


def data(source):
    """The blueprint as plain data, which JSON writes back as YAML."""
    document, findings = read(source, "x.yaml")
    assert not findings
    return document.data


def finished(source):
    state = run(source, "x.yaml")
    assert state.project, render_text(state.findings, state.document)
    return state


@pytest.mark.parametrize("units", SUPERPOD)
def test_a_superpod_of_any_size_is_the_published_one(units):
    nodes, gpus, leaves, spines, node_cables, spine_cables = SUPERPOD[units]
    blueprint = data(text("superpod-h100"))
    del blueprint["training"]
    blueprint["nodes"]["gpu"]["count"] = nodes
    design = finished(json.dumps(blueprint)).project.design
    fabric = design.fabrics["compute"]
    assert (design.pools["gpu"].count, design.gpus) == (nodes, gpus)
    assert (len(fabric.leaves), len(fabric.spines)) == (leaves, spines)
    assert (fabric.cables.host, fabric.cables.manager, fabric.cables.leaf_spine) == (8 * nodes, node_cables - 8 * nodes, spine_cables)
    assert fabric.cables.manager == 4  # UFM's ports, for which one node of the first unit is missing


def test_the_shipped_superpod_is_the_published_one_of_four_units():
    design = finished(text("superpod-h100")).project.design
    fabric = design.fabrics["compute"]
    assert [len(group.hosts) for group in fabric.groups] == [31, 32, 32, 32]
    assert (design.gpus, len(fabric.leaves), len(fabric.spines)) == (1016, 32, 16)
    assert (fabric.cables.host, fabric.cables.manager, fabric.cables.leaf_spine) == (1016, 4, 1024)


def test_a_job_that_does_not_fit_is_refused_with_the_line_that_breaks_it():
    source = text("superpod-h100").replace("context: 2}", "context: 1}")
    state = run(source, "superpod-h100.yaml")
    (finding,) = errors(state.findings)
    assert (finding.id, finding.slug, finding.path) == ("IAC330", "job-does-not-fit", ("training", "pretrain"))
    assert state.project is None
    marked = [line for line in finding.help.splitlines() if "breaks" in line]
    assert len(marked) == 1 and "activations" in marked[0]
    sums, room = ([float(n) for n in line.partition("(")[0].split()[1:]] for line in finding.help.splitlines() if line.startswith(("sum", "room")))
    assert max(sums) > room[0]
    table = finding.help.partition("\nsum")[0].splitlines()[1:]
    lines = [[float(n) for n in line.replace("<- breaks", "").split()[-len(sums) :]] for line in table]
    assert [sum(column) for column in zip(*lines, strict=True)] == pytest.approx(sums, abs=0.4)  # each figure is rounded


def test_a_remedy_that_is_offered_works():
    source = text("superpod-h100").replace("context: 2}", "context: 1}")
    (finding,) = errors(run(source, "x.yaml").findings)
    assert "recompute: full" in finding.help and "context: 2" in finding.help
    assert finished(source.replace("recompute: none", "recompute: full"))
    assert finished(text("superpod-h100"))


WRONG = {
    "the file": ({"name: lab": "name: lab\nname: lab", "units: 48": "units: 0x30", "{kind: slurm": "{<<: 1, kind: slurm"}, {"IAC006", "IAC007", "IAC017"}),
    "the file and the language": ({"count: 2}": "count: 02}", "zero: 3": "zeroo: 3", "technology: roce": "technology: no"}, {"IAC007", "IAC011", "IAC102"}),
    "the language": ({"schema: 1": "schema: 2", "30kW": "30", "technology: roce": "technology: rocee", "  ctl: {": "  ctl1: {", "zero: 3": "zeroo: 3"}, {"IAC105", "IAC107", "IAC106", "IAC102"}),
    "the references": ({"system: hgx-h100": "system: hgx-h101", "switch: sn5600": "switch: sn5601", "connects: [gpu]": "connects: [gpux]", "controllers: ctl": "controllers: ctrl"}, {"IAC201", "IAC202"}),
    "the cluster": ({"count: 2}": "count: 2, spares: 2}", "[gpu, ctl]": "[gpu, gpu, ctl]", "framework: deepspeed": "framework: megatron"}, {"IAC204", "IAC228", "IAC315"}),
}  # fmt: skip


@pytest.mark.parametrize(("edits", "ids"), WRONG.values(), ids=WRONG.keys())
def test_all_that_is_wrong_in_one_stage_is_said_in_one_run(edits, ids):
    source = text("lab")
    for old, new in edits.items():
        assert old in source
        source = source.replace(old, new, 1)
    found = errors(run(source, "x.yaml").findings)
    assert {f.id for f in found} == ids
    assert len(found) >= len(edits)


def test_a_design_and_a_job_that_are_both_wrong_are_said_together():
    source = text("superpod-h100").replace("capacity: 1600kW", "capacity: 100kW").replace("context: 2}", "context: 1}")
    assert {f.id for f in errors(run(source, "x.yaml").findings)} == {"IAC213", "IAC330"}


def shuffled(value, chance):
    """The same data with every map in another order; lists keep theirs."""
    if isinstance(value, dict):
        names = list(value)
        chance.shuffle(names)
        return {name: shuffled(value[name], chance) for name in names}
    return [shuffled(item, chance) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("file", FILES, ids=lambda p: p.stem)
def test_the_order_of_maps_changes_no_byte(file):
    source = file.read_text(encoding="utf-8")
    mixed = shuffled(data(source), random.Random(7))
    assert list(mixed) != list(data(source)) and list(mixed["nodes"]) != list(data(source)["nodes"])
    assert tree(finished(json.dumps(mixed))) == tree(finished(source))


@given(st.randoms(use_true_random=False))
@settings(max_examples=25, deadline=None)
def test_no_order_of_maps_changes_the_design(chance):
    here, there = finished(text("lab")), finished(json.dumps(shuffled(data(text("lab")), chance)))
    assert there.project == here.project
    assert list(there.project.design.pools) == list(here.project.design.pools)
    assert list(there.project.jobs) == list(here.project.jobs)


@pytest.mark.parametrize("file", FILES, ids=lambda p: p.stem)
def test_the_resolved_blueprint_gives_the_same_tree(file):
    files = tree(finished(file.read_text(encoding="utf-8")))
    again = finished(files[".iacgen/resolved.yaml"])
    assert tree(again) == files
    assert resolve(again.blueprint) == data(files[".iacgen/resolved.yaml"])


def test_the_two_controllers_of_a_pool_are_its_first_hosts():
    scheduler = finished(text("superpod-h100")).project.design.scheduler
    assert scheduler.controllers == ("ctl0001", "ctl0002")


PLAIN = st.none() | st.booleans() | st.integers(-2, 70_000) | st.floats(0, 20, allow_nan=False) | st.sampled_from(["", "gpu", "ctl", "mds", "compute", "storage", "infiniband", "roce", "fat-tree", "full", "1TB", "1W", "10MW", "1ms", "dgx-h100", "generic-1u", "p5.48xlarge", "qm9700", "sn2201", "llama-3-8b", "10.0.0.0/28", "/dev", [], {}, ["gpu"], ["ctl", "mds"]])


def places(value, path=()):
    """Every path below a value."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(inner, (*path, key))


@given(st.sampled_from(["lab", "superpod-h100", "aws-p5"]), st.data())
@settings(max_examples=120, deadline=None)
def test_no_wrong_value_anywhere_is_more_than_a_finding(name, draw):
    blueprint = data(text(name))
    path = draw.draw(st.sampled_from(sorted(places(blueprint), key=str)))
    inner = blueprint
    for key in path[:-1]:
        inner = inner[key]
    if draw.draw(st.booleans()) and isinstance(inner, dict):
        del inner[path[-1]]
    else:
        inner[path[-1]] = draw.draw(PLAIN)
    state = run(json.dumps(blueprint), "x.yaml")
    assert (state.project is None) == bool(errors(state.findings))
    render_text(state.findings, state.document)
    if state.project:
        tree(state)


def test_a_word_a_name_and_a_job_that_are_wrong_are_said_together():
    source = text("superpod-h100").replace("spares: 1}", "spares: 1, cuont: 1}").replace("system: lustre-oss", "system: lustre-osss").replace("context: 2}", "context: 1}")
    assert {f.id for f in errors(run(source, "x.yaml").findings)} == {"IAC102", "IAC202", "IAC330"}


def test_what_only_follows_from_a_mistake_is_not_said():
    source = text("lab").replace("count: 2}", "count: two}")
    assert {f.id for f in errors(run(source, "x.yaml").findings)} == {"IAC107"}


def swapped(key):
    """A key with two letters swapped, as people type it."""
    return key[0] + key[2] + key[1] + key[3:]


@pytest.mark.parametrize("name", ["lab", "superpod-h100", "aws-p5"])
def test_one_mistake_anywhere_is_one_error(name):
    """A value that is none, at every place in turn; every key and name misspelt in turn."""
    blueprint = data(text(name))
    wrong = {}
    for path in places(blueprint):
        for kind in ("value", "key"):
            changed = json.loads(json.dumps(blueprint))
            inner = changed
            for step in path[:-1]:
                inner = inner[step]
            if kind == "value":
                inner[path[-1]] = "?"
            elif isinstance(path[-1], str) and len(path[-1]) > 4:
                inner[swapped(path[-1])] = inner.pop(path[-1])
            found = errors(run(json.dumps(changed), "x.yaml").findings)
            if len(found) > 1:
                wrong[path, kind] = [(f.id, f.path) for f in found]
    assert wrong == {}


TWO = """kind: Cluster
schema: 1
name: two
sites: {hall: {kind: on-prem}}
nodes:
  gpu: {site: hall, system: dgx-h100, count: 512}
  cpu: {site: hall, system: generic-1u, count: 10}
fabrics:
  compute: {site: hall, purpose: compute, connects: [gpu], technology: infiniband, topology: rail-fat-tree, switch: qm9700, tiers: 2, unit: 32, manager: {kind: opensm, pool: gpu}}
  mgmt: {site: hall, purpose: management, connects: [gpu, cpu], technology: ethernet, switch: sn2201}
"""


@pytest.mark.parametrize(
    ("mistake", "ids"),
    [
        (("count: 10}", "count: 10, width: 1}"), ["IAC203", "IAC211"]),  # found by a check
        (("ethernet, switch", "ethernet, swich"), ["IAC102", "IAC211"]),  # a word of the language
        (("[gpu, cpu]", "[gpu, cpus]"), ["IAC201", "IAC211"]),  # a name that is not there
        (("{kind: on-prem}", "{kind: on-prem, cooling: {kind: air, capacity: 100kW, redundancy: N+1}}"), ["IAC211", "IAC213"]),  # what is designed after
    ],
)
def test_what_cannot_be_built_is_told_beside_another_mistake(mistake, ids):
    """128 leaves do not fit two tiers, whatever else is wrong; and the other mistake is told once, with it."""
    assert TWO.count(mistake[0]) == 1
    found = run(TWO.replace(*mistake), "two.yaml").findings
    assert sorted(f.id for f in found if f.severity == "error") == ids


def test_a_placement_is_found_without_laying_a_cable(monkeypatch):
    """Nor is a comment told to be unused that allows what only the checks of the cluster find."""
    judged = finished(text("superpod-h100"))

    def laid(fabric):
        raise AssertionError(f"the cables of {fabric.name} are laid")

    monkeypatch.setattr("iacgen.design.fabric.wiring.links", laid)
    state = run(text("superpod-h100"), "x.yaml", judge=False)
    assert state.project and state.project.placements == judged.project.placements
    assert not state.findings and judged.suppressed and not state.suppressed
    with pytest.raises(AssertionError, match="cables"):
        run(text("superpod-h100"), "x.yaml")
