"""Starting up: version, help, wrong usage, interruption; and nothing heavy is loaded before it is needed."""

import importlib.metadata
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from iacgen.cli.app import app

ROOT = Path(__file__).parents[2]
COMMANDS = sorted(command.name or command.callback.__name__ for command in app.registered_commands)
HEAVY = ("pydantic", "numpy", "networkx", "jinja2", "ruamel", "rich")

LOADED = """
import json, sys
from iacgen.cli import main
sys.argv = ["iacgen", *sys.argv[1:]]
try:
    main()
finally:
    names = {name.partition(".")[0] for name in sys.modules}
    print(json.dumps(sorted(names)), file=sys.stderr)
"""


def loaded(*args):
    """Top-level modules that a run of the program has loaded."""
    done = subprocess.run([sys.executable, "-c", LOADED, *args], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize("args", [("--version",), ("--help",), *((name, "--help") for name in COMMANDS)], ids=" ".join)
def test_starts_without_loading_anything_heavy(args):
    assert not loaded(*args) & set(HEAVY)


@pytest.mark.parametrize("args", [("explain",), ("explain", "IAC203"), ("explain", "job-does-not-fit", "--format", "markdown"), ("explain", "--format", "json")], ids=" ".join)
def test_a_page_is_read_without_loading_anything_heavy(args):
    assert not loaded(*args) & set(HEAVY)


def test_a_check_draws_no_graph_and_no_table():
    modules = loaded("check", "blueprints/superpod-h100.yaml")
    assert {"pydantic", "ruamel"} <= modules
    assert not modules & {"networkx", "rich"}


def test_the_catalog_needs_no_more_than_its_files():
    assert not loaded("catalog", "qm9700") & {"networkx", "numpy", "jinja2", "rich"}


def test_version(iacgen):
    done = iacgen("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"iacgen {importlib.metadata.version('iacgen')}\n", "")


def test_the_installed_command_is_the_same_program():
    script = Path(sys.executable).parent / "iacgen"
    done = subprocess.run([script, "--version"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, f"iacgen {importlib.metadata.version('iacgen')}\n")


def test_help_names_every_command(call):
    done = call("--help")
    assert done.exit_code == 0
    assert {"catalog", "check", "explain", "generate", "init", "schema", "verify"} <= set(COMMANDS)
    assert [line.split()[0] for line in done.stdout.partition("Commands:")[2].splitlines() if line.strip()] == [c.name or c.callback.__name__ for c in app.registered_commands]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_does(call, name):
    command = next(c for c in app.registered_commands if (c.name or c.callback.__name__) == name)
    assert command.callback.__doc__
    done = call(name, "--help")
    assert done.exit_code == 0
    for line in done.stdout.partition("Options:")[2].splitlines():
        assert len(line.split()) > 1 or not line.strip().startswith("--"), line


def test_without_a_command_it_prints_its_help_and_has_done_nothing(iacgen):
    done = iacgen()
    assert done.returncode == 2
    assert "Usage: iacgen" in done.stdout + done.stderr


WRONG = [
    ("destroy",),
    ("check",),
    ("check", "--format", "xml", "a.yaml"),
    ("check", "--fail-on", "warnings", "a.yaml"),
    ("check", "--profile", "prod", "a.yaml"),
    ("check", "--quiet", "a.yaml"),
    ("generate", "--out"),
    ("catalog", "--format", "xml"),
    ("verify",),
]


@pytest.mark.parametrize("args", WRONG, ids=" ".join)
def test_wrong_usage_is_said_on_stderr(call, args):
    done = call(*args)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Error: " in done.stderr


def test_an_interrupted_run_says_so_in_its_exit_code(tmp_path):
    process = subprocess.Popen([sys.executable, "-m", "iacgen", "check", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path)
    try:
        process.stdin.write(b"#" * 200_000)  # more than a pipe holds, less than a blueprint may have: once this returns, the command reads on
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert (process.returncode, out) == (130, b"")
    assert b"Traceback" not in err


@pytest.mark.parametrize("args", [("--version",), ("catalog",)], ids=" ".join)
def test_a_full_disk_behind_the_output_is_no_finding(args):
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "iacgen", *args], stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


LAB = "blueprints/lab.yaml"
CLOSED = [
    ("check - <&-", 2, "iacgen: cannot read -: standard input is closed"),
    ("generate - <&-", 2, "iacgen: cannot read -: standard input is closed"),
    (f"check {LAB} <&-", 0, ""),
    (f"check {LAB} >&-", 2, "iacgen: cannot write the output: standard output is closed"),
    ("--version >&-", 2, "iacgen: cannot write the output: standard output is closed"),
    ("catalog >&- 2>&-", 2, ""),
    ("check nowhere.yaml 2>&-", 2, ""),
    (f"check {LAB} 2>&-", 0, ""),
    (f"check {LAB} <&- >&- 2>&-", 2, ""),
]


@pytest.mark.parametrize(("args", "code", "words"), CLOSED, ids=[case[0] for case in CLOSED])
def test_a_closed_stream_is_said(args, code, words):
    """As a service without standard streams, or a shell's ``<&-`` and ``>&-``, leaves them."""
    done = subprocess.run(["bash", "-c", f'exec "$0" -m iacgen {args}', sys.executable], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert (done.returncode, done.stderr.strip()) == (code, words)
    assert done.stdout == (f"{LAB}: clean\n" if code == 0 else "")
