"""What the check calls a number of slurm.conf is one to slurmctld, which ends at anything else."""

import json
from pathlib import Path

import pytest

from iacgen.checks.slurm_keys import NUMBERS, OLD, SINGLE
from iacgen.pipeline import run, tree
from iacgen.verify.slurm import V22_05

LAB = (Path(__file__).parents[2] / "blueprints/lab.yaml").read_text()


def with_value(key, value):
    scheduler = {"kind": "slurm", "version": "22.05", "controllers": "ctl", "parameters": {key: [value]}}
    return run(LAB.replace('scheduler: {kind: slurm, version: "22.05", controllers: ctl}', f"scheduler: {json.dumps(scheduler)}"), "x.yaml")


def test_every_number_is_a_key():
    assert NUMBERS < SINGLE.keys()


@pytest.mark.parametrize("key", sorted(NUMBERS))
def test_the_check_refuses_text(key):
    assert "IAC552" not in {f.id for f in with_value(key, "1").findings}
    wanted = "IAC552" if SINGLE[key] == OLD else "IAC501"  # of a key of a later version nothing more is said
    assert [f.id for f in with_value(key, "7x").findings if f.severity == "error"] == [wanted]


@pytest.mark.judge("slurm-22.05")
@pytest.mark.parametrize("key", sorted(key for key in NUMBERS if SINGLE[key] == OLD))
def test_slurmctld_ends_at_text(key, tmp_path):
    value = "0" if key.startswith("MaxMem") else "1"  # no limit: one of a MiB is refused by another check
    state = with_value(key, value)
    for path, text in tree(state).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    conf = tmp_path / "slurm/slurm.conf"
    text = conf.read_text()
    assert f"{key}={value}\n" in text
    conf.write_text(text.replace(f"{key}={value}\n", f"{key}=7x\n"))
    verdict = V22_05.verify(tmp_path, state.project)
    assert any("is not a valid number" in f.message and "7x" in f.message for f in verdict.findings), verdict.findings
