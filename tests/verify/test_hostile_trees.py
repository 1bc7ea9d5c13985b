"""Trees whose free text tries to be code: the real programs accept them, and the text stays text."""

import json
from pathlib import Path

import pytest

from iacgen.output import apply, plan
from iacgen.pipeline import run, tree
from iacgen.verify import ask

ROOT = Path(__file__).parents[2]
BAIT = "{{ lookup('pipe', 'touch pwned') }} {% if x %} ${file(\"/etc/passwd\")} %{ if true } $(touch pwned) `id` <b>|*_ 'q' \"qq\" \\ # é 日本"


def baited(name):
    """The blueprint with the bait at every place that takes free text."""
    quoted = json.dumps(BAIT)
    text = (ROOT / "blueprints" / f"{name}.yaml").read_text(encoding="utf-8").replace(f"name: {name}\n", f"name: {name}\ndescription: {quoted}\n")
    return text.replace("    model: ", f"    description: {quoted}\n    model: ").replace("site: lab-room, system: hgx-h100", f"description: {quoted}, site: lab-room, system: hgx-h100")


@pytest.fixture
def written(tmp_path):
    def write(name):
        state = run(baited(name), "x.yaml", "lab")
        assert state.project, state.findings
        folder = tmp_path / name
        apply(plan(tree(state), folder), folder)
        return folder, state.project

    return write


@pytest.mark.parametrize(("name", "judge"), [pytest.param("lab", "ansible", marks=pytest.mark.judge("ansible")), pytest.param("aws-p5", "terraform", marks=pytest.mark.judge("terraform"))])
def test_the_real_program_accepts_it(written, name, judge):
    folder, project = written(name)
    verdict = ask(judge, folder, project)
    assert verdict.status == "passed", verdict.findings
    assert not list(folder.rglob("pwned")) and not Path("pwned").exists()


@pytest.mark.parametrize("name", ["lab", "aws-p5"])
def test_it_stands_only_where_its_reader_takes_it_for_text(written, name):
    """Every file that holds a piece of the bait is one whose quoting is tested by its reader."""
    folder, _ = written(name)
    holding = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file() and "touch pwned" in p.read_text(encoding="utf-8")}
    tested = {"README.md", "report.html", "report.md", ".iacgen/resolved.yaml", "ansible/lab-room/inventory/group_vars/all/cluster.yml", "terraform/ohio/terraform.tfvars.json"}
    assert holding and holding <= tested
