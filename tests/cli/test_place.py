"""``iacgen place``: what it prints in words and as JSON, and its exit codes."""

import hashlib
import json
from pathlib import Path

import pytest

from iacgen.pipeline import run

BLUEPRINTS = Path(__file__).parents[2] / "blueprints"
SUPERPOD = BLUEPRINTS / "superpod-h100.yaml"


@pytest.fixture(scope="module")
def project():
    """The shipped SuperPOD with its orders, as ``generate`` places them."""
    return run(SUPERPOD.read_bytes(), "x").project


def placed(call, *args):
    """(answer, its JSON by job)."""
    done = call("place", *args, "--format", "json")
    assert (done.exit_code, done.stderr) == (0, "")
    out = json.loads(done.stdout)
    return out, {job["job"]: job for job in out["jobs"]}


def test_it_tells_the_order_that_generate_writes(call, project):
    out, jobs = placed(call, SUPERPOD)
    assert out["cluster"] == "superpod-h100" and out["assumptions"]
    assert jobs.keys() == project.placements.keys()
    for name, placement in project.placements.items():
        assert tuple(jobs[name]["hosts"]) == placement.hosts
        assert jobs[name]["digest"] == hashlib.sha256("\n".join(placement.hosts).encode()).hexdigest()


def test_families_add_up_and_hosts_are_told_once(call):
    _, jobs = placed(call, SUPERPOD)
    for job in jobs.values():
        for cost in (job["cost"], job["sorted_names"]):
            assert sum(f["seconds"] for f in cost["families"]) == pytest.approx(cost["seconds"])
            for f in cost["families"]:
                busiest = f["busiest_uplink"]
                assert f["seconds"] == pytest.approx(f["weight"] * max(f["slowest_flow"]["seconds"], busiest["seconds"] if busiest else 0))
                assert busiest is None or 0 < busiest["utilisation"] <= 1
            for tier, told in cost["bytes_leaving"].items():
                assert told == pytest.approx(sum(f["bytes_leaving"][tier] for f in cost["families"]))
        assert job["ratio"] == pytest.approx(job["cost"]["seconds"] / job["bound"]["seconds"]) and job["ratio"] >= 1 - 1e-9
        everyone = [*job["hosts"], *(idle["host"] for idle in job["idle"])]
        assert sorted(everyone) == [f"gpu{n:04d}" for n in range(1, 128)]


def test_the_words_fit_a_terminal_and_say_what_they_are(call, project):
    done = call("place", SUPERPOD, "--job", "pretrain")
    assert (done.exit_code, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert project.placements["pretrain"].digest in done.stdout
    for words in ("pretrain: 1,008 ranks on 126 of 127 hosts of gpu, compute (planned)", "not the time of a step", "1 spare: gpu", "data parallel", "sorted names"):
        assert words in done.stdout
    assert "finetune" not in done.stdout


def test_a_ratio_above_the_wished_one_is_a_finding(call, tmp_path):
    text = SUPERPOD.read_text(encoding="utf-8")
    (tmp_path / "x.yaml").write_text(text, encoding="utf-8")
    _, jobs = placed(call, "x.yaml")
    assert call("place", "x.yaml", "--max-ratio", str(max(job["ratio"] for job in jobs.values()) + 1e-9)).exit_code == 0
    sets = ("--set", "nodes.gpu.down=[gpu0003, gpu0040, gpu0041, gpu0042, gpu0043, gpu0090]", "--set", "training.pretrain.count=108", "--set", "training.pretrain.parallel.pipeline=9", "--set", "training.pretrain.global_batch=216")
    _, jobs = placed(call, "x.yaml", "--job", "pretrain", *sets)
    ratio = jobs["pretrain"]["ratio"]
    if ratio > 1.0001:
        done = call("place", "x.yaml", "--job", "pretrain", *sets, "--max-ratio", "1.0001")
        assert done.exit_code == 1 and f"pretrain costs {ratio:.4f} times its bound" in done.stderr and "pretrain: " in done.stdout


def test_an_error_in_the_blueprint_leaves_no_order(call, blueprint):
    wrong = ("lab.yaml", "--set", "training.pretrain.nodes=gpuu")
    done = call("place", *wrong)
    assert done.exit_code == 1 and "error[" in done.stdout and "no rank was placed" in done.stderr
    done = call("place", *wrong, "--format", "json")
    assert done.exit_code == 1 and {f["severity"] for f in json.loads(done.stdout)["findings"]} == {"error"}


def test_too_few_hosts_are_told_at_the_job(call, blueprint):
    done = call("place", "lab.yaml", "--set", "nodes.gpu.down=[gpu0001]", "--set", "training.pretrain.count=2")
    assert done.exit_code == 1 and "error[" in done.stdout and "no rank was placed" in done.stderr


def test_what_is_not_there_is_refused(call, blueprint):
    done = call("place", "lab.yaml", "--job", "x")
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", "iacgen: there is no job x; there is pretrain\n")
    assert call("place", "nowhere.yaml").exit_code == 2
    done = call("place", "lab.yaml", "--set", "training=null")
    assert done.exit_code == 2 and "no job" in done.stderr


def test_a_job_of_one_host_has_nothing_to_order(call, blueprint):
    done = call("place", "lab.yaml", "--set", "training.pretrain.count=1")
    assert done.exit_code == 0 and "nothing leaves a host: any order will do" in done.stdout
    _, jobs = placed(call, "lab.yaml", "--set", "training.pretrain.count=1")
    assert jobs["pretrain"]["cost"]["families"] == [] and jobs["pretrain"]["ratio"] == 1
