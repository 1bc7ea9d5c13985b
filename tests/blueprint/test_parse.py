"""Every mistake in the language is one finding at the place where it was made."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iacgen.blueprint import Blueprint, parse
from iacgen.blueprint.language import follow, keys, sections, tag
from iacgen.pipeline import run

ROOT = Path(__file__).parents[2]
WHOLE = {
    "kind": "Cluster",
    "schema": 1,
    "name": "x",
    "sites": {"aws": {"kind": "aws", "region": "us-east-2", "zone": "us-east-2a"}, "hall": {"kind": "on-prem", "rack": {"power": "5kW"}}},
    "nodes": {"gpu": {"site": "hall", "system": "hgx-h100", "count": 2, "down": ["gpu0001"]}},
    "fabrics": {"f": {"site": "hall", "purpose": "compute", "connects": ["gpu"], "technology": "roce", "switch": "sn5600"}},
    "storage": {"s3": {"kind": "s3", "site": "aws"}},
    "scheduler": {"kind": "slurm", "version": "24.11", "controllers": "gpu", "partitions": {"p": {"nodes": ["gpu"], "default": True}}},
    "training": {"t": {"model": "m", "nodes": "gpu", "sequence": 4096, "global_batch": 64, "framework": "deepspeed"}},
}


def put(path, value):
    """``WHOLE`` with one value changed, or with one key taken away by ``...``."""
    data = json.loads(json.dumps(WHOLE))
    here = data
    for step in path[:-1]:
        here = here[step]
    if value is ...:
        del here[path[-1]]
    else:
        here[path[-1]] = value
    return data


def told(path, value):
    return [(f.id, f.path) for f in parse(put(path, value))[1]]


def test_the_sample_is_right():
    assert parse(WHOLE)[1] == []


@pytest.mark.parametrize(
    ("path", "value", "id", "at"),
    [
        (("name",), "X", "IAC106", ("name",)),
        (("sites", "hall", "rack", "power"), "5", "IAC107", ("sites", "hall", "rack", "power")),
        (("sites", "hall", "rak"), {}, "IAC102", ("sites", "hall", "rak")),
        (("sites", "aws", "aws"), 1, "IAC102", ("sites", "aws", "aws")),
        (("sites", "aws", "kind"), "azure", "IAC104", ("sites", "aws", "kind")),
        (("sites", "aws", "kind"), ["aws"], "IAC104", ("sites", "aws", "kind")),
        (("sites", "aws", "kind"), None, "IAC104", ("sites", "aws", "kind")),
        (("sites", "aws", "kind"), ..., "IAC103", ("sites", "aws", "kind")),
        (("sites", "aws", "zone"), ..., "IAC103", ("sites", "aws", "zone")),
        (("sites", "aws"), 5, "IAC107", ("sites", "aws")),
        (("sites", "aws"), None, "IAC107", ("sites", "aws")),
        (("sites", "aws", "domain"), "a.b", "IAC107", ("sites", "aws", "domain")),
        (("sites", "aws", "admin_networks"), ["10.0.0.0/8", "x"], "IAC106", ("sites", "aws", "admin_networks", 1)),
        (("sites", "Hall"), {"kind": "on-prem"}, "IAC106", ("sites", "Hall")),
        (("nodes", "gpu", "down", 0), 5, "IAC108", ("nodes", "gpu", "down", 0)),
        (("nodes", "gpu", "down"), {"a": 1}, "IAC107", ("nodes", "gpu", "down")),
        (("nodes", "gpu", "capacity"), {"kind": "capacity-block", "id": "x"}, "IAC106", ("nodes", "gpu", "capacity", "id")),
        (("nodes", "gpu", "capacity"), {"kind": "capacity-block"}, "IAC103", ("nodes", "gpu", "capacity", "id")),
        (("nodes", "gpu", "capacity"), {"kid": "capacity-block"}, "IAC102", ("nodes", "gpu", "capacity", "kid")),
        (("nodes",), [], "IAC107", ("nodes",)),
        (("nodes",), {}, "IAC107", ("nodes",)),
        (("nodes",), ..., "IAC103", ("nodes",)),
        (("fabrics", "f", "connects"), [["gpu"]], "IAC107", ("fabrics", "f", "connects", 0)),
        (("storage", "s3", "kind"), "s4", "IAC104", ("storage", "s3", "kind")),
        (("storage", "s3", "s3"), 1, "IAC102", ("storage", "s3", "s3")),
        (("scheduler", "partitions", "p", "default"), "yes", "IAC107", ("scheduler", "partitions", "p", "default")),
        (("scheduler", "partitions", "P"), {"nodes": ["gpu"]}, "IAC106", ("scheduler", "partitions", "P")),
        (("scheduler", "kind"), "pbs", "IAC104", ("scheduler", "kind")),
        (("scheduler",), {"kind": "pbs", "queue": "x"}, "IAC104", ("scheduler", "kind")),
        (("training", "t", "zero"), True, "IAC107", ("training", "t", "zero")),
        (("training", "t", "zero"), 7, "IAC105", ("training", "t", "zero")),
        (("training", "t", "parallel"), {"tensor": 0}, "IAC107", ("training", "t", "parallel", "tensor")),
    ],
)
def test_one_mistake_is_one_finding_at_its_place(path, value, id, at):
    assert told(path, value) == [(id, at)]


def test_a_name_and_its_section_may_both_be_wrong():
    assert told(("nodes", "Gpu"), {"site": "hall", "system": "x", "count": 0}) == [("IAC106", ("nodes", "Gpu")), ("IAC107", ("nodes", "Gpu", "count"))]


def test_a_misspelt_key_is_no_missing_one_but_another_missing_one_is():
    data = put(("nodes", "gpu", "cuont"), 2)
    del data["nodes"]["gpu"]["count"], data["nodes"]["gpu"]["site"]
    assert [(f.id, f.path[-1]) for f in parse(data)[1]] == [("IAC103", "site"), ("IAC102", "cuont")]


def test_of_very_many_errors_the_first_hundred_are_told():
    text = "kind: Cluster\nschema: 1\nname: x\nsites: {h: {kind: on-prem}}\nnodes:\n" + "".join(f"  a{i}x: {{}}\n" for i in range(2000))
    findings = run(text, "x.yaml").findings
    assert len(findings) == 101
    assert [f.id for f in findings[-2:]] == ["IAC103", "IAC109"]
    assert findings[-1].severity == "error"


def test_messages_stay_short():
    for value in ("y" * 200_000, ["y" * 200_000], {"y" * 90: "y" * 200_000}):
        for finding in parse(put(("nodes", "gpu"), value))[1] + parse(put(("name",), value))[1] + parse(put(("sites", "aws", "kind"), value))[1]:
            assert len(finding.message) < 400


def all_sections(annotation, found):
    for model in sections(annotation):
        if model not in found:
            found.add(model)
            for field in model.model_fields.values():
                all_sections(field.annotation, found)
    for part in getattr(annotation, "__args__", ()):
        all_sections(part, found)
    return found


def test_a_union_is_told_apart_by_kind_alone():
    """A plain union would answer one mistake with an error for each of its members."""
    for model in all_sections(Blueprint, set()):
        for name, field in model.model_fields.items():
            members = sections(field.annotation)
            assert len({tag(m) for m in members}) == len(members), (model, name)
            assert len(members) < 2 or all(tag(m) for m in members)


@given(st.lists(st.sampled_from(["sites", "nodes", "storage", "gpu", "aws", "kind", "lustre", "[key]", 0, "capacity", "capacity-block", "id", "function-after[f(), str]"]), max_size=6))
@settings(max_examples=200)
def test_no_path_of_pydantic_is_too_strange(loc):
    spot = follow(loc)
    assert all(step in loc for step in spot.path)
    assert spot.section is None or keys(spot.section)


def test_fabrics_that_connect_too_many_nodes_together_are_refused_before_any_is_designed():
    pool = {"site": "hall", "system": "generic-1u", "count": 1, "grow_to": 65_535, "width": 5}
    fabric = {"site": "hall", "purpose": "management", "connects": ["gpu"], "technology": "ethernet", "switch": "sn2201"}
    data = {"kind": "Cluster", "schema": 1, "name": "t", "sites": {"hall": {"kind": "on-prem"}}, "nodes": {"gpu": pool}, "fabrics": {f"f{i}x": fabric for i in range(9)}}
    blueprint, (finding,) = parse(data)
    assert blueprint is None and (finding.id, finding.path) == ("IAC110", ("fabrics",)) and "589,815" in finding.message
    assert parse(data | {"fabrics": {f"f{i}x": fabric for i in range(8)}})[1] == []
