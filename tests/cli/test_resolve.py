"""``iacgen resolve``: the effective blueprint with the origin of each value; and overlays with the other commands."""

import json
from pathlib import Path

import pytest
import yaml

from iacgen.pipeline import run, tree

BLUEPRINTS = sorted((Path(__file__).parents[2] / "blueprints").glob("*.yaml"))


def origins(done):
    return {leaf["path"]: (leaf["value"], leaf["origin"]) for leaf in json.loads(done.stdout)}


@pytest.fixture
def over(tmp_path):
    """An overlay, ``more.yaml``."""
    (tmp_path / "more.yaml").write_text("nodes:\n  gpu: {count: 4}\nfabrics: {mgmt: {subnet: 10.20.0.0/16}}\n", encoding="utf-8")
    return "more.yaml"


def test_every_value_has_its_origin(call, blueprint, over):
    done = call("resolve", "lab.yaml", "-f", over, "--set", "training.pretrain.zero=2", "--format", "json")
    assert done.exit_code == 0
    found = origins(done)
    lines = blueprint.read_text().splitlines()
    system = 1 + next(i for i, line in enumerate(lines) if "hgx-h100" in line)
    assert found["nodes.gpu.system"] == ("hgx-h100", f"lab.yaml:{system}")
    assert found["nodes.gpu.count"] == (4, "more.yaml:2")
    assert found["fabrics.mgmt.subnet"] == ("10.20.0.0/16", "more.yaml:3")
    assert found["training.pretrain.zero"] == (2, "--set training.pretrain.zero=2")
    assert found["nodes.gpu.width"] == (4, "default")
    assert found["fabrics.compute.subnet"] == ("10.48.0.0/12", "default")
    assert found["scheduler.partitions.train.nodes.0"] == ("gpu", "catalog")
    assert found["scheduler.partitions.train.max_time"] == ("7-00:00:00", "default")
    assert found["scheduler.partitions.train.default"] == (True, "default")


def test_the_text_says_the_same(call, blueprint, over):
    done = call("resolve", "lab.yaml", "-f", over)
    rows = [line.partition("  # ")[::2] for line in done.stdout.splitlines()]
    assert ("    count: 4", "more.yaml:2") in [(text.rstrip(), origin.strip()) for text, origin in rows]
    assert sum(bool(origin) for _, origin in rows) == len(origins(call("resolve", "lab.yaml", "-f", over, "--format", "json")))


@pytest.mark.parametrize("file", BLUEPRINTS, ids=lambda p: p.stem)
def test_what_it_prints_is_the_same_cluster(call, file):
    """Both YAML versions read it, and it makes the same files, but for the list of what was written."""
    done = call("resolve", file)
    assert done.exit_code == 0
    again, first = run(done.stdout, "x.yaml"), run(file.read_bytes(), "x.yaml")
    assert not [f for f in again.findings if f.severity == "error"]
    assert again.document.data == yaml.safe_load(done.stdout)
    ours, theirs = tree(again), tree(first)
    assert {path for path in ours if ours[path] != theirs.get(path)} <= {".iacgen/resolved.yaml"}
    assert ours.keys() == theirs.keys()


def test_it_resolves_to_itself(call, tmp_path, blueprint):
    (tmp_path / "again.yaml").write_text(call("resolve", "lab.yaml").stdout, encoding="utf-8")
    values = [{path: value for path, (value, _) in origins(call("resolve", name, "--format", "json")).items()} for name in ("lab.yaml", "again.yaml")]
    assert values[0] == values[1]


def test_what_is_no_blueprint_has_no_effect(call, blueprint):
    done = call("resolve", "lab.yaml", "--set", "nodes.gpu.cuont=4")
    assert done.exit_code == 1
    assert "error[IAC102] unknown-key" in done.stdout
    assert "--> --set nodes.gpu.cuont=4:1:11" in done.stdout


@pytest.mark.parametrize(("given", "step"), [("nodes.gpus.count=4", "'gpus' in nodes"), ("training.finetune.zero=1", "'finetune' in training")])
def test_a_value_that_goes_nowhere_is_told(call, blueprint, given, step):
    """Standard output stays YAML that other programs read."""
    done = call("resolve", "lab.yaml", "--set", given)
    assert done.exit_code == 1
    assert yaml.safe_load(done.stdout)["nodes"].keys() == {"gpu", "ctl"}
    assert done.stderr.startswith(f"error[IAC613] assignment-to-nothing: there is no {step}\n")
    assert f"--> --set {given}:1:" in done.stderr and ("did you mean" in done.stderr or "known: " in done.stderr)
    assert done.stderr.endswith("\niacgen: this is not in the blueprint that is printed\n")


def test_a_part_of_a_file_that_goes_nowhere_is_told(call, blueprint, tmp_path):
    (tmp_path / "more.yaml").write_text("nodes:\n  gpus: {count: 4}\n  gpu: {spares: 9}\n", encoding="utf-8")
    done = call("resolve", "lab.yaml", "-f", "more.yaml", "--format", "json")
    assert done.exit_code == 1
    assert origins(done)["nodes.gpu.spares"] == (9, "more.yaml:3")
    assert "error[IAC613]" in done.stderr and "--> more.yaml:2:3" in done.stderr


def test_it_shows_also_what_a_check_refuses(call, blueprint):
    done = call("resolve", "lab.yaml", "--set", "nodes.gpu.spares=9")
    assert done.exit_code == 1
    assert "spares: 9" in done.stdout
    assert done.stderr.startswith("iacgen: check finds ") and done.stderr.endswith(" in this blueprint\n")


def test_check_points_into_the_overlay(call, blueprint, tmp_path):
    (tmp_path / "more.yaml").write_text("fabrics:\n  compute:\n    switch: sn5601\n")
    done = call("check", "lab.yaml", "-f", "more.yaml")
    assert done.exit_code == 1
    assert "--> more.yaml:3:13\n" in done.stdout
    assert "3 |     switch: sn5601\n" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("lab.yaml: 1 error")


def test_an_overlay_goes_over_each_of_many(call, blueprint, over, tmp_path):
    (tmp_path / "two.yaml").write_text(blueprint.read_text())
    done = call("check", "lab.yaml", "two.yaml", "-f", over, "--set", "nodes.gpu.spares=9", "--format", "json")
    assert done.exit_code == 1
    printed = json.loads(done.stdout)
    assert [f["errors"] > 0 for f in printed["files"]] == [True, True]
    assert [f["file"] for f in printed["findings"] if f["id"] == "IAC204"] == ["--set nodes.gpu.spares=9"] * 2


def test_an_overlay_that_is_not_there(call, blueprint):
    for command in ("check", "generate", "resolve"):
        done = call(command, "lab.yaml", "-f", "none.yaml")
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr == "iacgen: cannot read none.yaml: No such file or directory\n"


def test_generate_writes_the_effective_blueprint(call, blueprint, over, tmp_path):
    done = call("generate", "lab.yaml", "-f", over, "--set", "name=wide")
    assert done.exit_code == 0, done.stdout
    resolved = yaml.safe_load((tmp_path / "out/wide/.iacgen/resolved.yaml").read_text())
    assert resolved["nodes"]["gpu"]["count"] == 4
    assert resolved["fabrics"]["mgmt"]["subnet"] == "10.20.0.0/16"


def test_nothing_is_written_when_an_overlay_is_wrong(call, blueprint, tmp_path):
    done = call("generate", "lab.yaml", "--set", "name=../../up")
    assert done.exit_code == 1
    assert "error[IAC106] malformed-text" in done.stdout
    assert [p.name for p in tmp_path.iterdir()] == ["lab.yaml"]


def test_a_hostile_assignment_reaches_no_terminal(call, blueprint):
    done = call("check", "lab.yaml", "--set", "name=\x1b[2J\u202e")
    assert done.exit_code == 1
    assert all(c == "\n" or c.isprintable() for c in done.stdout + done.stderr)


@pytest.mark.parametrize("format", ["text", "json"])
@pytest.mark.parametrize("argument", ["--hub-token=hf_0123456789012345678901234567890123", "--api-password=correct-horse-battery"])
def test_a_secret_is_not_printed_once_more(call, blueprint, format, argument):
    """The blueprint is refused for it, and all else of it is printed."""
    done = call("resolve", "lab.yaml", "--set", f"training.pretrain.arguments=[{argument}]", "--format", format)
    assert done.exit_code == 1
    assert argument.partition("=")[2] not in done.stdout + done.stderr
    assert argument.partition("=")[0] in done.stdout and "hgx-h100" in done.stdout
