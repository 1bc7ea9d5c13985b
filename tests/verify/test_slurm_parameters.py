"""Every key and word of slurm.conf that a blueprint may set is one that slurmctld takes; those that iacgen writes it may not."""

import json
from pathlib import Path

import pytest
import yaml

from iacgen.checks.slurm_keys import LISTS, PLANNED, SINGLE, WRITTEN, version_of, words
from iacgen.pipeline import run, tree
from iacgen.verify.slurm import V22_05, V24_11

ROOT = Path(__file__).parents[2]
VALUES = yaml.safe_load((Path(__file__).parent / "slurm_parameters.yaml").read_text())
JUDGES = {"22.05": V22_05, "24.11": V24_11}
BOTH = [pytest.param(version, marks=pytest.mark.judge(f"slurm-{version}")) for version in JUDGES]
EXCLUSIVE = [{"DefMemPerCPU", "MaxMemPerCPU"}, {"DefMemPerGPU"}]  # slurmctld takes one way to limit memory
UNFIT = {"test_exec", "bf_hetjob_prio", "disable_send_gids", "bf_max_job_assoc"}  # a tester's; takes a word; the last two exclude others
FITTING = {"bf_max_job_test": 1000, "bf_topopt_iterations": 5, "max_script_size": 4194304, "max_submit_line_size": 65536}
GROUPS = [SINGLE.keys() - EXCLUSIVE[0] - EXCLUSIVE[1], *EXCLUSIVE]


def state_with(version, parameters):
    text = (ROOT / "blueprints/lab.yaml").read_text()
    scheduler = {"kind": "slurm", "version": version, "controllers": "ctl", "parameters": parameters}
    state = run(text.replace('scheduler: {kind: slurm, version: "22.05", controllers: ctl}', f"scheduler: {json.dumps(scheduler)}"), "x.yaml")
    assert state.project, state.findings
    return state


def judged(version, parameters, folder):
    state = state_with(version, parameters)
    for path, text in tree(state).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return JUDGES[version].verify(folder, state.project)


def test_each_key_has_a_value_to_try():
    assert VALUES.keys() == SINGLE.keys()


@pytest.mark.parametrize("group", GROUPS, ids=["most", "memory of a CPU", "memory of a GPU"])
@pytest.mark.parametrize("version", BOTH)
def test_slurmctld_takes_every_key(version, group, tmp_path):
    wanted = {key: [VALUES[key]] for key in group if SINGLE[key] <= version_of(version)}
    verdict = judged(version, wanted, tmp_path)
    assert verdict.status == "passed", [finding.message for finding in verdict.findings]


@pytest.mark.parametrize("version", BOTH)
def test_slurmctld_takes_every_word(version, tmp_path):
    wanted = {
        key: [f"{word}={FITTING.get(word, 60)}" if takes_value else word for word, (since, takes_value) in words(key).items() if since <= version_of(version) and word not in WRITTEN[key] | UNFIT]
        for key in LISTS
    }
    verdict = judged(version, wanted, tmp_path)
    assert verdict.status == "passed", [finding.message for finding in verdict.findings]


@pytest.mark.parametrize("name", ["lab", "superpod-h100", "aws-p5"])
def test_no_key_of_ours_can_be_set(name):
    text = tree(run((ROOT / f"blueprints/{name}.yaml").read_text(), "x.yaml"))["slurm/slurm.conf"]
    ours = {line.partition("=")[0] for line in text.splitlines() if line and not line.startswith("#")}
    assert ours - PLANNED <= set(LISTS)
    assert not SINGLE.keys() & PLANNED


@pytest.mark.parametrize("version", JUDGES)
def test_no_word_of_ours_can_be_set(version):
    text = tree(state_with(version, {}))["slurm/slurm.conf"]
    for key in LISTS:
        line = next((line for line in text.splitlines() if line.startswith(f"{key}=")), f"{key}=")
        assert {word.partition("=")[0] for word in line.partition("=")[2].split(",") if word} <= WRITTEN[key]
