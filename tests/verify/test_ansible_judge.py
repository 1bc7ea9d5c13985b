"""The Ansible judge on generated trees: it accepts what iacgen writes, and refuses each spoilt tree for the right reason."""

from __future__ import annotations

from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest
import yaml

from iacgen import verify
from iacgen.paths import data_folder
from iacgen.pipeline import run
from iacgen.targets import ansible, nccl, slurm
from iacgen.verify import ansible as judge
from iacgen.verify import programs
from iacgen.verify.ansible.installation import Installation
from iacgen.verify.ansible.rules import judge_files

CASES = Path(__file__).parents[1] / "cases" / "ansible"
SPOILT = yaml.safe_load((CASES / "spoilt.yaml").read_text())


@cache
def project_of(blueprint):
    path = CASES / f"{blueprint}.yaml" if (CASES / f"{blueprint}.yaml").exists() else data_folder("blueprints") / f"{blueprint}.yaml"
    state = run(path.read_text(), path.name)
    assert state.project, state.findings
    return state.project


@cache
def tree_of(blueprint):
    project = project_of(blueprint)
    return ansible.render(project) | slurm.render(project) | nccl.render(project)


def written(folder, tree):
    for path, text in tree.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


# Fact caches and lint's own folder, as a user's runs leave them in the tree.
LEFT_BEHIND = {"ansible/lab-room/.cache/facts/gpu0001": "{", "ansible/lab-room/.ansible/x.yml": "a: [", "ansible/lab-room/site.retry": "gpu0001"}


@pytest.mark.judge("ansible")
@pytest.mark.parametrize("blueprint, besides", [("superpod-h100", {}), ("lab", LEFT_BEHIND)])
def test_accepts_generated_trees(blueprint, besides, tmp_path):
    tree = written(tmp_path, tree_of(blueprint) | besides)
    before = {path: path.stat().st_mtime_ns for path in tree.rglob("*")}
    verdict = judge.verify(tree, project_of(blueprint))
    assert [f.message for f in verdict.findings] == []
    assert (verdict.status, verdict.version) == ("passed", programs.find("ansible").version)
    assert {path: path.stat().st_mtime_ns for path in tree.rglob("*")} == before  # nothing written, no cache left


@pytest.mark.judge("ansible")
@pytest.mark.parametrize("site", ["hall-a", "hall-b"])
def test_unusual_inventories_are_those_of_the_design(site, tmp_path):
    """All but lint, which reads the same roles again."""
    tree = written(tmp_path / "tree", tree_of("two-halls"))
    asked = Installation(programs.find("ansible").path, tree / "ansible" / site, tmp_path / "home")
    parsed, broken = asked.parse()
    assert [*asked.syntax(), *broken, *judge_files(parsed), *asked.inventory(project_of("two-halls").design, site)] == []


@pytest.mark.judge("ansible")
@pytest.mark.parametrize("case", SPOILT, ids=lambda case: case["name"])
def test_refuses_a_spoilt_tree(case, tmp_path):
    tree = written(tmp_path, tree_of("lab"))
    if "old" in case:
        text = (tree / case["file"]).read_text()
        assert case["old"] in text
        (tree / case["file"]).write_text(text.replace(case["old"], case["new"], 1))
    else:
        (tree / case["file"]).unlink()
    verdict = judge.verify(tree, project_of("lab"))
    assert verdict.status == "failed"
    assert case["slug"] in {f.slug for f in verdict.findings}
    assert case["says"] in " ".join(f.message for f in verdict.findings if f.slug == case["slug"])


def test_says_how_to_get_a_missing_program(tmp_path, monkeypatch):
    monkeypatch.setenv("IACGEN_ANSIBLE_BIN", str(tmp_path / "nowhere"))
    verdict = judge.verify(written(tmp_path, tree_of("lab")), project_of("lab"))
    assert (verdict.status, verdict.version) == ("missing", None)
    assert "tests/real/install.sh" in verdict.findings[0].message


def test_a_tree_without_a_playbook_is_not_its_business(tmp_path):
    tree = written(tmp_path, slurm.render(project_of("aws-p5")))
    assert not judge.applies(tree)
    assert verify.ask("ansible", tree, project_of("aws-p5")).status == "not-applicable"


@pytest.mark.judge("ansible")
def test_a_tree_that_lost_its_playbook_is_refused(tmp_path):
    verdict = verify.ask("ansible", tmp_path, project_of("lab"))
    assert verdict.status == "failed"
    assert [f.message for f in verdict.findings] == ["ansible/lab-room/site.yml is missing: nothing sets its hosts up"]


def test_files_that_only_machines_read_are_not_claimed():
    """A unit, a rule of udev: copied as they are, and no program of Ansible's has read them."""
    unread = [path for path in tree_of("lab") if path.startswith("ansible/") and not any(fnmatch(path, pattern) for pattern in judge.READS)]
    assert sorted(path.removeprefix("ansible/lab-room/roles/") for path in unread) == [
        "ib_host/files/sysctl.conf",
        "nvidia_driver/files/nouveau.conf",
        "opensm/files/opensm-fabric@.service",
        "opensm/files/opensm-guids",
        "roce_host/files/roce-lossless.service",
        "roce_host/files/sysctl.conf",
        "roce_host/files/udev.rules",
        "slurm/files/slurmd.conf",
    ]
