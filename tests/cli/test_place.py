"""``iacgen place``: what it prints in words and as JSON, and its exit codes."""

import hashlib
import json
import sys
from pathlib import Path

import jsonschema
import pytest

from iacgen.ordering import data, ordered
from iacgen.pipeline import run

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs/placement.schema.json").read_text(encoding="utf-8"))
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
    jsonschema.validate(out, SCHEMA, cls=jsonschema.Draft202012Validator)
    return out, {job["job"]: job for job in out["jobs"]}


def test_it_tells_the_order_that_generate_writes(call, project):
    out, jobs = placed(call, SUPERPOD)
    assert out["cluster"] == "superpod-h100" and out["assumptions"]
    assert jobs.keys() == project.placements.keys()
    for name, placement in project.placements.items():
        assert tuple(jobs[name]["hosts"]) == placement.hosts
        assert jobs[name]["digest"] == hashlib.sha256("\n".join(placement.hosts).encode()).hexdigest()


def test_every_key_stands_on_the_page():
    page = (ROOT / "docs/placement.md").read_text(encoding="utf-8").partition("## JSON")[2]
    assert {key for key in SCHEMA["$defs"]["job"]["properties"] if f"{key}`" not in page} == set()
    inner = {key for name in ("fabric", "cost", "family_cost") for key in SCHEMA["$defs"][name]["properties"]}
    assert {key for key in inner if f"`{key}`" not in page} == {"family"}


def test_a_reader_of_the_schema_would_see_a_key_that_is_gone(project):
    state = run(SUPERPOD.read_bytes(), "x", judge=False, placed=False)
    told = data("x", ordered(state.design, {"finetune": state.jobs["finetune"]}, {"finetune": "gpu"})[0])
    jsonschema.validate(told, SCHEMA, cls=jsonschema.Draft202012Validator)
    for key in told["jobs"][0]:
        spoilt = {**told, "jobs": [{k: v for k, v in told["jobs"][0].items() if k != key}]}
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(spoilt, SCHEMA, cls=jsonschema.Draft202012Validator)


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


TIGHT = """\
SwitchName=core Switches=pod[1-2]
SwitchName=pod1 Switches=leaf[1-2]
SwitchName=pod2 Switches=leaf[3-4]
SwitchName=leaf1 Nodes=gpu[0001-0030]
SwitchName=leaf2 Nodes=gpu[0031-0060]
SwitchName=leaf3 Nodes=gpu[0061-0094]
SwitchName=leaf4 Nodes=gpu[0095-0126]
"""


@pytest.fixture
def tight(tmp_path):
    """Options of a fabric on which counting proves no order of the large job the best."""
    (tmp_path / "tight.conf").write_text(TIGHT, encoding="utf-8")
    return SUPERPOD, "--job", "pretrain", "--topology", "tight.conf", "--oversubscription", "leaf=10", "--oversubscription", "pod=10"


def test_a_ratio_above_the_wished_one_is_a_finding(call, tight):
    ratio = placed(call, *tight)[1]["pretrain"]["ratio"]
    assert call("place", *tight, "--max-ratio", str(ratio + 1e-9)).exit_code == 0
    done = call("place", *tight, "--max-ratio", str((1 + ratio) / 2))
    assert done.exit_code == 1 and f"pretrain costs {ratio:.4f} times its bound" in done.stderr and "pretrain: 1,008 ranks" in done.stdout


PROVED = """\
kind: Cluster
schema: 1
name: rounded
sites: {s: {kind: on-prem}}
nodes:
  gpu: {site: s, system: hgx-h100, count: 16}
  ctl: {site: s, system: generic-1u, count: 2}
fabrics:
  compute: {site: s, purpose: compute, connects: [gpu], technology: roce, topology: rail-fat-tree, switch: sn5600, unit: 4}
  mgmt: {site: s, purpose: management, connects: [gpu, ctl], technology: ethernet, switch: sn2201}
scheduler: {kind: slurm, version: "24.11", controllers: ctl}
training:
  job: {model: llama-3-70b, nodes: gpu, count: 12, sequence: 8192, global_batch: 96, framework: megatron, recompute: full, gradients: bf16, parallel: {tensor: 8, pipeline: 4}}
"""


def test_a_proved_order_passes_the_strictest_ratio(call, tmp_path):
    """Cost and bound of this one are sums of other terms, and differ by 6e-11."""
    (tmp_path / "rounded.yaml").write_text(PROVED, encoding="utf-8")
    job = placed(call, "rounded.yaml")[1]["job"]
    assert job["proved"] and 1 < job["ratio"] < 1 + 1e-6
    assert call("place", "rounded.yaml", "--max-ratio", "1").exit_code == 0


def test_the_exact_solver_tells_how_far_it_came(call, tight):
    pytest.importorskip("ortools")
    before, after = (placed(call, *tight, *options)[1]["pretrain"] for options in ((), ("--prove", "--limit", "0.5")))
    assert after["cost"]["seconds"] <= before["cost"]["seconds"] and after["bound"]["seconds"] >= before["bound"]["seconds"]
    assert len(set(after["hosts"])) == 126 and before["solver"] is None
    assert after["solver"]["bound_seconds"] <= after["cost"]["seconds"] * (1 + 1e-9) and after["bound"]["seconds"] >= after["solver"]["bound_seconds"]


def test_the_exact_solver_proves_a_small_job(call, tmp_path):
    """Eight of ten hosts under leaves of 3, 3 and 4: proved one way or the other."""
    pytest.importorskip("ortools")
    (tmp_path / "small.conf").write_text("SwitchName=top Switches=a,b,c\nSwitchName=a Nodes=gpu[0001-0003]\nSwitchName=b Nodes=gpu[0004-0006]\nSwitchName=c Nodes=gpu[0007-0010]\n", encoding="utf-8")
    job = placed(call, SUPERPOD, "--job", "finetune", "--set", "training.finetune.count=8", "--topology", "small.conf", "--prove")[1]["finetune"]
    assert job["proved"] and (job["solver"] is None or job["solver"]["optimal"])


def test_what_counting_has_proved_needs_no_solver(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    assert placed(call, SUPERPOD, "--prove")[1]["pretrain"]["proved"]


def test_a_solver_that_is_missing_is_named_with_the_way_to_get_it(call, tight, monkeypatch):
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    done = call("place", *tight, "--prove")
    assert done.exit_code == 2 and "pip install 'iacgen[prove]'" in done.stderr


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
    done = call("place", "lab.yaml", "--prove", "--down", "gpu0001")
    assert done.exit_code == 2 and "--prove" in done.stderr
    for options in (("--prove", "--limit", "nan"), ("--prove", "--limit", "inf"), ("--max-ratio", "nan"), ("--max-ratio", "inf")):
        done = call("place", "lab.yaml", *options)
        assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"iacgen: {' '.join(options[-2:])}: write a finite number\n")
    done = call("place", "lab.yaml", "--limit", "5")
    assert done.exit_code == 2 and "--prove" in done.stderr
    done = call("place", "lab.yaml", "--set", "training=null")
    assert done.exit_code == 2 and "no job" in done.stderr


def test_a_job_of_one_host_has_nothing_to_order(call, blueprint):
    done = call("place", "lab.yaml", "--set", "training.pretrain.count=1")
    assert done.exit_code == 0 and "nothing leaves a host: any order will do" in done.stdout and "bound" not in done.stdout.partition("*")[0]
    _, jobs = placed(call, "lab.yaml", "--set", "training.pretrain.count=1")
    assert jobs["pretrain"]["cost"]["families"] == [] and jobs["pretrain"]["ratio"] == 1
