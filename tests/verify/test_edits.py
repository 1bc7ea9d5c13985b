"""Edited data files, value by value. The values are parsed as JSON here; the command parses them as YAML."""

import json

import pytest

from iacgen.verify.edits import edited_values

NAME = "terraform/ohio/terraform.tfvars.json"


def parse(raw):
    return json.loads(raw), frozenset({("unclear",)})


def said(tmp_path, planned, found, name=NAME):
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text(found if isinstance(found, str) else json.dumps(found))
    return [f.message.removeprefix(f"{name}: ") for f in edited_values(tmp_path, {name: json.dumps(planned)}, [name], parse)]


@pytest.mark.parametrize(
    ("planned", "found", "says"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, []),
        ({"a": {"b": [{"c": 1}]}}, {"a": {"b": [{"c": 2}]}}, ["a.b[0].c is 2; the blueprint makes 1"]),
        ({"a": [1, 2]}, {"a": [1]}, ["a is [1]; the blueprint makes [1, 2]"]),
        ({"a": 1}, {}, ["a is missing; the blueprint makes 1"]),
        ({}, {"a": "x"}, ['a is "x"; the blueprint makes no such value']),
        ({"a": 1}, {"a": True}, ["a is true; the blueprint makes 1"]),
        ({"a": None}, {"a": {}}, ["a is {}; the blueprint makes null"]),
        ({"unclear": 8}, {"unclear": None}, ["unclear is something that readers of YAML take differently; the blueprint makes 8"]),
        ({"a": 1}, [], ['all of it is []; the blueprint makes {"a": 1}']),
    ],
)
def test_each_value_that_differs_is_named(tmp_path, planned, found, says):
    assert said(tmp_path, planned, found) == says


def test_what_cannot_be_parsed_cannot_be_compared(tmp_path):
    (message,) = said(tmp_path, {"a": 1}, "{")
    assert message.startswith("cannot be compared with the blueprint: ")


def test_many_values_are_counted(tmp_path):
    messages = said(tmp_path, {str(i): i for i in range(50)}, {str(i): -1 for i in range(50)})
    assert (len(messages), messages[-1]) == (21, "30 more values are not those of the blueprint")


@pytest.mark.parametrize("name", ["slurm/slurm.conf", "ansible/a/roles/slurm/defaults/main.yml", ".iacgen/manifest.json"])
def test_other_files_are_left_to_their_readers(tmp_path, name):
    assert said(tmp_path, {"a": 1}, {"a": 2}, name) == []


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / NAME).parent.mkdir(parents=True)
    (tmp_path / "secret").write_text('{"a": "root"}')
    (tmp_path / NAME).symlink_to(tmp_path / "secret")
    assert list(edited_values(tmp_path, {NAME: '{"a": 1}'}, [NAME], parse)) == []
