"""``iacgen check``: findings on stdout with their place, 0 or 1; what cannot be read on stderr, 2; nothing is ever written."""

from pathlib import Path

import pytest

BLUEPRINTS = sorted((Path(__file__).parents[2] / "blueprints").glob("*.yaml"))


@pytest.mark.parametrize("file", BLUEPRINTS, ids=lambda p: p.stem)
def test_the_shipped_blueprints_are_clean(call, file):
    """What they allow, with a reason, is counted."""
    allowed = file.read_text(encoding="utf-8").count("# iacgen: allow")
    done = call("check", file)
    assert (done.exit_code, done.stdout, done.stderr) == (0, f"{file}: clean{f'; {allowed} suppressed' if allowed else ''}\n", "")


def test_a_finding_is_a_result(iacgen, blueprint, tmp_path):
    blueprint.write_text(blueprint.read_text().replace("switch: sn5600", "switch: sn5601"))
    done = iacgen("check", "lab.yaml")
    line = next(i for i, text in enumerate(blueprint.read_text().splitlines(), 1) if "sn5601" in text)
    assert done.returncode == 1
    assert done.stdout.startswith("error[IAC202] unknown-catalog-entry:")
    assert f"--> lab.yaml:{line}:13\n" in done.stdout
    assert done.stdout.endswith("lab.yaml: 1 error\n")
    assert done.stderr == ""
    assert [p.name for p in tmp_path.iterdir()] == ["lab.yaml"]


def test_all_is_said_in_one_run(call, blueprint):
    text = blueprint.read_text()
    for old, new in {"30kW": "30kVA", "technology: roce": "technology: rocee", "zero: 3": "zero: 4", "schema: 1": "schema: 2"}.items():
        text = text.replace(old, new)
    blueprint.write_text(text)
    done = call("check", blueprint)
    assert done.exit_code == 1
    assert done.stdout.count("error[") == 4
    assert done.stdout.endswith(": 4 errors\n")


def test_a_warning_stops_nobody(call, blueprint):
    blueprint.write_text(blueprint.read_text().replace("sequence: 8192", "sequence: 16384"))
    done = call("check", blueprint)
    assert done.exit_code == 0
    assert "warning[IAC320] sequence-beyond-model" in done.stdout
    assert done.stdout.endswith("lab.yaml: 1 warning\n")


def test_reads_standard_input(iacgen, lab):
    done = iacgen("check", "-", input=lab)
    assert (done.returncode, done.stdout) == (0, "<stdin>: clean\n")
    done = iacgen("check", "-", input=lab.replace("name: lab", "name: Lab"))
    assert done.returncode == 1
    line = lab.splitlines().index("name: lab") + 1
    assert f"--> <stdin>:{line}:7\n" in done.stdout


def test_a_byte_order_mark_is_no_part_of_the_text(call, blueprint):
    blueprint.write_bytes(b"\xef\xbb\xbf" + blueprint.read_bytes())
    assert call("check", blueprint).exit_code == 0


def test_line_ends_of_other_systems_move_no_place(call, blueprint):
    blueprint.write_bytes(blueprint.read_bytes().replace(b"30kW", b"30kVA").replace(b"\n", b"\r\n"))
    done = call("check", "lab.yaml")
    assert "--> lab.yaml:10:19\n" in done.stdout
    assert "10 |     rack: {power: 30kVA, units: 48}\n" in done.stdout


def test_a_file_that_is_not_there(iacgen):
    done = iacgen("check", "none.yaml")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "iacgen: cannot read none.yaml: No such file or directory\n")


def test_a_folder_is_no_blueprint(iacgen, tmp_path):
    (tmp_path / "folder.yaml").mkdir()
    done = iacgen("check", "folder.yaml")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "iacgen: cannot read folder.yaml: Is a directory\n"


def test_bytes_that_are_no_text(iacgen, tmp_path):
    (tmp_path / "latin.yaml").write_bytes("kind: Cluster\nname: café\n".encode("latin-1"))
    done = iacgen("check", "latin.yaml")
    assert (done.returncode, done.stderr) == (1, "")
    assert "error[IAC014] not-utf-8: byte 23 (0xe9) is not UTF-8 text\n --> latin.yaml:2:10\n" in done.stdout


def test_standard_input_that_is_no_text(call):
    done = call("check", "-", input=b"\xff\xfe")
    assert done.exit_code == 1
    assert "error[IAC014] not-utf-8: the file is UTF-16; save it as UTF-8" in done.stdout


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no device that never ends")
def test_a_device_that_never_ends(iacgen):
    done = iacgen("check", "/dev/zero")
    assert done.returncode == 1
    assert "error[IAC001] blueprint-too-large" in done.stdout


HOSTILE = {
    "nothing": "",
    "only a comment": "# nothing\n",
    "a NUL": "kind: \0Cluster\n",
    "an escape sequence": "kind: \x1b[2J\n",
    "very deep": "[" * 5_000,
    "very long": "a" * 300_000,
    "an alias bomb": "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 9)),
    "a python object": "kind: !!python/object/apply:os.system [id]\n",
    "a list": "- kind: Cluster\n",
    "a scalar": "Cluster\n",
    "nulls everywhere": "kind:\nschema:\nname:\nsites:\nnodes:\nfabrics:\nstorage:\nscheduler:\ntraining:\nsoftware:\n",
    "lists everywhere": "kind: []\nschema: []\nname: []\nsites: []\nnodes: []\nfabrics: []\nstorage: []\nscheduler: []\ntraining: []\nsoftware: []\n",
    "text everywhere": "kind: a\nschema: a\nname: a\nsites: {a: a}\nnodes: {a: a}\nfabrics: {a: a}\nstorage: {a: a}\nscheduler: a\ntraining: {a: a}\nsoftware: a\n",
    "an enormous number": "kind: Cluster\nschema: 99999999999999999999999999999\n",
}


def test_an_anchor_twice_is_no_warning_of_a_library(iacgen):
    done = iacgen("check", "-", input="kind: &x Cluster\nname: &x pair\n")
    assert done.returncode == 1
    assert done.stderr == ""


def test_a_quantity_beyond_all_machines_is_a_finding_or_a_tree(iacgen, lab):
    done = iacgen("generate", "-", input=lab.replace("30kW", f"{'9' * 32}GW"))
    assert done.returncode in (0, 1)


@pytest.mark.parametrize("command", ["check", "generate"])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_file_brings_it_down(call, tmp_path, command, text):
    (tmp_path / "x.yaml").write_text(text, encoding="utf-8")
    done = call(command, "x.yaml")
    assert done.exit_code == 1
    assert "error[IAC" in done.stdout
    assert all(c == "\n" or c.isprintable() for c in done.stdout + done.stderr)
    assert [p.name for p in tmp_path.iterdir()] == ["x.yaml"]


def test_lines_are_whole_off_a_terminal(iacgen, blueprint):
    blueprint.write_text(blueprint.read_text().replace("switch: sn5600", f"switch: sn{'5' * 60}"))
    wide, narrow = (iacgen("check", "lab.yaml", env={"COLUMNS": columns}) for columns in ("500", "20"))
    assert wide.stdout == narrow.stdout
    assert "\x1b" not in wide.stdout
    assert f"the catalog has no 'sn{'5' * 60}' among its switches" in narrow.stdout
