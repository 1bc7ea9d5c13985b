"""The JSON of findings: its keys are promised, so they are written out here and in a schema."""

import json
from pathlib import Path

import jsonschema

from iacgen.diagnostics.json import render

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/findings.schema.json").read_text(encoding="utf-8"))


def read(*reports, profile="production"):
    data = json.loads(render(reports, profile))
    jsonschema.validate(data, SCHEMA, cls=jsonschema.Draft202012Validator)
    return data


def test_a_finding_with_all_it_has(sample):
    assert read(sample.report(sample.ALL[0])) == {
        "schema": 1,
        "profile": "production",
        "files": [{"file": "lab.yaml", "errors": 1, "warnings": 0, "infos": 0, "suppressed": 0, "unselected": 0}],
        "findings": [
            {
                "id": "IAC999",
                "slug": "thing-found",
                "severity": "error",
                "message": "wrong",
                "help": "write less\nor more",
                "link": "iacgen explain IAC999",
                "file": "lab.yaml",
                "line": 3,
                "column": 17,
                "endLine": 3,
                "endColumn": 25,
                "path": ["nodes", "gpu", "system"],
                "related": [
                    {"path": ["nodes", "ctl", "count"], "note": "two here", "place": {"file": "lab.yaml", "line": 4, "column": 27, "endLine": 4, "endColumn": 28}},
                    {"path": ["nodes", "gpu", "width"], "note": "four digits", "place": None},
                ],
                "suppressed": None,
            }
        ],
    }


def test_a_suppressed_finding_is_there_with_its_reason_and_its_comment(sample):
    data = read(sample.report(sample.ALL[0], allowed=sample.ALL[1:], unselected=7), profile="lab")
    assert data["files"] == [{"file": "lab.yaml", "errors": 1, "warnings": 0, "infos": 0, "suppressed": 2, "unselected": 7}]
    assert [f["suppressed"] for f in data["findings"]] == [None, *[{"reason": "it is a spare", "file": "lab.yaml", "line": 1, "column": 1, "endLine": 1, "endColumn": 5}] * 2]


def test_a_clean_file_is_named(sample):
    assert read(sample.report()) == {"schema": 1, "profile": "production", "files": [{"file": "lab.yaml", "errors": 0, "warnings": 0, "infos": 0, "suppressed": 0, "unselected": 0}], "findings": []}


def test_several_files_keep_their_order(sample):
    data = read(sample.report(*sample.ALL, name="b.yaml"), sample.report(sample.ALL[1], name="a.yaml"))
    assert [f["file"] for f in data["files"]] == ["b.yaml", "a.yaml"]
    assert [f["file"] for f in data["findings"]] == ["b.yaml"] * 3 + ["a.yaml"]


def test_hostile_words_come_back_as_they_were(sample):
    for words in sample.HOSTILE:
        text = render([sample.report(sample.finding(("kind",), words, help=words), name=words)], "production")
        assert text.isascii() and all(c == "\n" or c.isprintable() for c in text)
        (found,) = read(sample.report(sample.finding(("kind",), words, help=words), name=words))["findings"]
        assert found["message"] == found["help"] == found["file"] == words


def test_the_schema_admits_nothing_but_these_keys(sample):
    data = json.loads(render([sample.report(*sample.ALL)], "production"))
    for spoil in (lambda d: d.pop("profile"), lambda d: d["findings"][0].update(more=1), lambda d: d["findings"][0].update(line=0), lambda d: d["files"][0].pop("errors")):
        spoilt = json.loads(json.dumps(data))
        spoil(spoilt)
        assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(spoilt)
