"""``iacgen check`` on many files: each is judged by itself, printed as asked, and the worst of them is the exit code."""

import json
import os
import pty
import re
import subprocess
import sys
from dataclasses import replace

import pytest

from iacgen import checks
from iacgen.checks.rule import Found
from iacgen.cli.choices import FindingFormat


@pytest.fixture
def three(tmp_path, lab):
    """A clean file, one with a warning, one with an error."""
    (tmp_path / "clean.yaml").write_text(lab)
    (tmp_path / "long.yaml").write_text(lab.replace("sequence: 8192", "sequence: 16384"))
    (tmp_path / "wrong.yaml").write_text(lab.replace("sn5600", "sn5601"))
    return ["clean.yaml", "long.yaml", "wrong.yaml"]


def test_each_file_has_its_findings_and_its_line(call, three):
    done = call("check", *three)
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert [line for line in lines if re.match(r"\w+\.yaml: |\d+ files: ", line)] == ["clean.yaml: clean", "long.yaml: 1 warning", "wrong.yaml: 1 error", "3 files: 1 error, 1 warning"]
    assert lines.index("long.yaml: 1 warning") < next(i for i, line in enumerate(lines) if "IAC202" in line)


def test_a_file_given_twice_is_judged_once(call, three, tmp_path):
    done = call("check", "clean.yaml", "./clean.yaml", "clean.yaml")
    assert (done.exit_code, done.stdout) == (0, "clean.yaml: clean\n")


def test_a_file_below_the_folder_is_named_from_it(call, three, tmp_path):
    assert call("check", tmp_path / "clean.yaml").stdout == "clean.yaml: clean\n"


def test_standard_input_beside_files(call, three, tmp_path):
    done = call("check", "clean.yaml", "-", input=(tmp_path / "wrong.yaml").read_text())
    assert done.exit_code == 1
    assert "clean.yaml: clean\n" in done.stdout and "--> <stdin>:" in done.stdout and done.stdout.endswith("2 files: 1 error\n")


def test_a_file_that_is_not_there_stops_no_other(call, three):
    done = call("check", "none.yaml", *three, ".")
    assert done.exit_code == 2
    assert "long.yaml: 1 warning\n" in done.stdout and "wrong.yaml: 1 error\n" in done.stdout
    assert done.stderr == "iacgen: cannot read none.yaml: No such file or directory\niacgen: cannot read .: Is a directory\n"


@pytest.mark.parametrize("format", list(FindingFormat), ids=lambda f: f.value)
def test_every_format_tells_both_findings_and_the_clean_file(call, three, format):
    done = call("check", *three, "--format", format.value)
    assert done.exit_code == (0 if format is FindingFormat.sarif else 1)
    assert done.stderr == ""
    assert all(word in done.stdout for word in ("IAC202", "unknown-catalog-entry", "IAC320", "sequence-beyond-model"))
    assert ("clean.yaml" in done.stdout) != (format is FindingFormat.github)
    assert all(c == "\n" or c.isprintable() or format is FindingFormat.markdown for c in done.stdout)


def test_formats_for_programs_hold_nothing_else(call, three):
    found = {name: json.loads(call("check", *three, "--format", name).stdout) for name in ("json", "sarif")}
    assert [f["id"] for f in found["json"]["findings"]] == [r["ruleId"] for r in found["sarif"]["runs"][0]["results"]] == ["IAC320", "IAC202"]
    assert all(line.startswith("::") or line == "iacgen: 1 error, 1 warning in 3 files" for line in call("check", *three, "--format", "github").stdout.splitlines())
    *lines, _, _ = [line for line in call("check", *three, "--format", "concise").stdout.splitlines() if ": clean" not in line]
    assert all(re.match(r"[a-z]+\.yaml(:\d+:\d+: (error|warning)\[IAC\d{3}\] |: 1 warning$)", line) for line in lines)


def test_sarif_tells_the_rules_as_they_are_explained(call, three):
    rules = json.loads(call("check", *three, "--format", "sarif").stdout)["runs"][0]["tool"]["driver"]["rules"]
    assert [r["id"] for r in rules] == ["IAC202", "IAC320"]
    assert rules[0]["help"]["text"] in call("explain", "IAC202", "--format", "markdown").stdout


def test_sarif_tells_what_could_not_be_read(call, three):
    done = call("check", "none.yaml", "clean.yaml", "--format", "sarif")
    assert done.exit_code == 2
    assert json.loads(done.stdout)["runs"][0]["invocations"][0]["executionSuccessful"] is False


FAIL_ON = [
    ("long.yaml", "text", None, 0),
    ("long.yaml", "text", "error", 0),
    ("long.yaml", "text", "warning", 1),
    ("long.yaml", "json", "info", 1),
    ("long.yaml", "text", "never", 0),
    ("wrong.yaml", "text", None, 1),
    ("wrong.yaml", "github", None, 1),
    ("wrong.yaml", "text", "never", 0),
    ("wrong.yaml", "sarif", None, 0),
    ("wrong.yaml", "sarif", "error", 1),
    ("long.yaml", "sarif", "error", 0),
    ("long.yaml", "sarif", "warning", 1),
    ("clean.yaml", "text", "info", 0),
]


@pytest.mark.parametrize(("file", "format", "fail_on", "code"), FAIL_ON)
def test_fails_from_the_severity_on_that_is_asked_for(call, three, file, format, fail_on, code):
    assert call("check", file, "--format", format, *(["--fail-on", fail_on] if fail_on else [])).exit_code == code


def test_shows_what_is_selected_and_counts_the_rest(call, three):
    done = call("check", *three, "--select", "IAC3")
    assert done.exit_code == 0
    assert "IAC202" not in done.stdout and "IAC320" in done.stdout
    assert done.stdout.endswith("wrong.yaml: clean; 1 not selected\n3 files: 1 warning; 1 not selected\n")
    done = call("check", *three, "--ignore", "sequence-beyond-model,IAC2")
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "3 files: clean; 2 not selected")
    assert call("check", "wrong.yaml", "--select", "IAC2", "--ignore", "IAC201").exit_code == 1


def test_an_unknown_name_is_wrong_usage(call, three):
    for option in ("--select", "--ignore"):
        done = call("check", "clean.yaml", option, "unknown-catalog-entrie")
        assert (done.exit_code, done.stdout, done.stderr) == (2, "", "iacgen: no finding is called 'unknown-catalog-entrie'; did you mean 'unknown-catalog-entry'?\n")


def test_a_suppressed_finding_is_counted(call, three, tmp_path):
    file = tmp_path / "long.yaml"
    file.write_text(file.read_text().replace("sequence: 16384", "sequence: 16384  # iacgen: allow sequence-beyond-model -- rotary base raised"))
    done = call("check", "long.yaml", "--fail-on", "info")
    assert (done.exit_code, done.stdout) == (0, "long.yaml: clean; 1 suppressed\n")
    assert json.loads(call("check", "long.yaml", "--format", "json").stdout)["findings"][0]["suppressed"]["reason"] == "rotary base raised"
    (result,) = json.loads(call("check", "long.yaml", "--format", "sarif").stdout)["runs"][0]["results"]
    assert result["suppressions"][0]["justification"] == "rotary base raised"
    for format in ("github", "concise", "markdown"):
        assert "IAC320" not in call("check", "long.yaml", "--format", format).stdout


def test_generate_takes_the_comment_too_and_says_so(call, three, tmp_path):
    file = tmp_path / "long.yaml"
    file.write_text(file.read_text().replace("sequence: 16384", "sequence: 16384  # iacgen: allow sequence-beyond-model -- rotary base raised"))
    done = call("generate", "long.yaml")
    assert done.exit_code == 0
    assert done.stdout.startswith("long.yaml: clean; 1 suppressed\n\nlab\n")


def test_a_laboratory_is_judged_as_one(call, tmp_path, lab, monkeypatch):
    """A check that production warns of and a lab does not."""
    off = next(rule for stage in checks.STAGES for rule in checks.rules(stage) if rule.lab != rule.severity)
    found_by = replace(off, function=lambda subject: [Found("found", ("name",))])
    monkeypatch.setattr(checks, "rules", lambda stage: (found_by,) if stage == "blueprint" else ())
    (tmp_path / "x.yaml").write_text(lab)
    seen = {profile: call("check", "x.yaml", "--profile", profile, "--format", "json") for profile in ("production", "lab")}
    found = {profile: json.loads(done.stdout) for profile, done in seen.items()}
    assert {profile: data["profile"] for profile, data in found.items()} == {"production": "production", "lab": "lab"}
    assert [f["severity"] for f in found["production"]["findings"]] == [off.severity]
    assert [f["severity"] for f in found["lab"]["findings"]] == ([off.lab] if off.lab else [])
    for profile, severity in (("production", off.severity), ("lab", off.lab)):
        out = call("generate", "x.yaml", "--check", "--profile", profile).stdout
        assert (f"{severity}[{off.id}]" in out) == bool(severity) and (off.id in out) == bool(severity)


def shown_on_a_terminal(cwd, **environment):
    """What the program writes to a terminal."""
    leader, follower = pty.openpty()
    try:
        env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "TERM")} | {"TERM": "xterm-256color"} | environment
        subprocess.run([sys.executable, "-m", "iacgen", "check", "wrong.yaml"], stdin=subprocess.DEVNULL, stdout=follower, stderr=follower, cwd=cwd, env=env, timeout=120, check=False)
        os.set_blocking(leader, False)
        out = b""
        try:
            while part := os.read(leader, 65_536):
                out += part
        except (BlockingIOError, OSError):
            pass
        return out.decode().replace("\r\n", "\n")
    finally:
        os.close(leader)
        os.close(follower)


def test_colour_is_for_terminals_that_want_it(iacgen, three, tmp_path):
    plain = iacgen("check", "wrong.yaml", env={"FORCE_COLOR": "1"}).stdout
    assert "\x1b" not in plain
    colored = shown_on_a_terminal(tmp_path)
    assert colored.startswith("\x1b[1;31merror[IAC202]\x1b[0m")
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain
    assert shown_on_a_terminal(tmp_path, NO_COLOR="1") == shown_on_a_terminal(tmp_path, TERM="dumb") == plain
    assert shown_on_a_terminal(tmp_path, NO_COLOR="") == colored


def test_words_that_the_output_cannot_show_are_escaped(iacgen, tmp_path):
    done = iacgen("check", "-", input="kind: Cl\N{LATIN SMALL LETTER U WITH DIAERESIS}ster\n", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert done.returncode == 1
    assert "kind: Cl\\xfcster" in done.stdout


def test_a_name_of_a_file_is_no_command_and_no_escape(call, tmp_path, lab):
    name = "::error::\x1b[31m##[add-mask]x.yaml"
    (tmp_path / name).write_text(lab.replace("sequence: 8192", "sequence: 16384"))
    for format in FindingFormat:
        out = call("check", name, "--format", format.value).stdout
        assert "\x1b" not in out and out.count("\n::") + out.startswith("::") == (format is FindingFormat.github)
        assert format is not FindingFormat.github or "##[" not in out.partition("\n")[2]
