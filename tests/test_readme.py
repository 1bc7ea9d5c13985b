"""The README is true: its two set-up commands, what it says is on the screen, its blueprint, its commands."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from iacgen.cli.app import app
from iacgen.diagnostics.text import render_text
from iacgen.pipeline import run

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
START = "python3.11 -m venv .venv && .venv/bin/pip install -q -e . && .venv/bin/iacgen generate blueprints/superpod-h100.yaml"
TEST = "python3.11 -m venv .venv && .venv/bin/pip install -q -e '.[test]' && .venv/bin/python -m pytest"


def fenced(language):
    """The blocks of one language, in their order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def screen(tmp_path_factory):
    """What the first set-up command ends with, run in a copy of the blueprints."""
    work = tmp_path_factory.mktemp("readme")
    shutil.copytree(ROOT / "blueprints", work / "blueprints")
    done = subprocess.run([sys.executable, "-m", "iacgen", *START.rpartition("iacgen ")[2].split()], cwd=work, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_there_are_exactly_two_set_up_commands():
    assert [block.strip() for block in fenced("sh")] == [START, TEST]
    assert README.count("-m venv") == 2


def test_ci_runs_the_second_one_word_for_word():
    assert TEST in (ROOT / ".ci/run").read_text(encoding="utf-8")


def test_the_screen_shows_what_the_readme_says(screen):
    shown = next(block for block in fenced("text") if block.startswith("superpod-h100")).splitlines()
    begins = screen.index(shown[0])
    assert screen[begins : begins + len(shown)] == shown
    assert not [line for line in screen[:begins] if line.startswith(("error[", "warning["))]


def test_the_first_command_shows_the_whole_design(screen):
    """Nodes, GPUs, switches, cables, power, memory of a GPU, cost of the placement."""
    text = "\n".join(screen)
    for words in ("127 x NVIDIA DGX H100, 1,016 GPUs", "32 leaf + 16 spine", "1,016 host + 4 manager + 1,024 leaf-spine", "kW", "usable on each GPU", "sorted host names", "out/superpod-h100: "):
        assert words in text, words


def test_the_finding_is_a_real_one():
    shown = next(block for block in fenced("text") if block.startswith("error["))
    edited = (ROOT / "blueprints/lab.yaml").read_text(encoding="utf-8").replace("system: generic-1u, count: 1}", "system: generic-1u, count: 10000}")
    state = run(edited, "lab.yaml")
    assert render_text([f for f in state.findings if f.id == "IAC203"], state.document) + "\n" == shown


def test_the_blueprint_is_clean():
    (text,) = fenced("yaml")
    state = run(text, "README.md")
    assert not state.findings and state.project


def test_every_blueprint_that_is_shipped_is_in_the_table():
    listed = re.findall(r"\]\((blueprints/[^)]+)\)", README)
    assert sorted(listed) == sorted(f"blueprints/{p.name}" for p in (ROOT / "blueprints").glob("*.yaml"))


def test_every_command_is_in_the_table_and_has_the_options_that_it_names():
    rows = dict(re.findall(r"^\| `iacgen (\w+)[^`]*` \| (.*) \|$", README, flags=re.MULTILINE))
    commands = {c.name or c.callback.__name__: c.callback for c in app.registered_commands}
    assert rows.keys() == commands.keys()
    for name, text in rows.items():
        for option in re.findall(r"`--(\w+)`", text):
            assert option in commands[name].__annotations__, f"{name} has no --{option}"
