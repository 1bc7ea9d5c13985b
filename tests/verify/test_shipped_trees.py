"""The command that users run, on the three trees that are shipped: every judge that a tree needs has read it and accepts it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from iacgen.verify import JUDGES, judge, unproven, unread
from iacgen.verify.verdict import Verdict

OUT = Path(__file__).parents[2] / "out"
NEEDS = {
    "lab": ("ansible", "slurm-22.05", "deepspeed", "torchrun", "openmpi", "dataloader", "nccl"),
    "superpod-h100": ("ansible", "slurm-24.11", "deepspeed", "megatron", "torchrun", "openmpi", "dataloader", "nccl", "opensm", "simgrid"),
    "aws-p5": ("terraform", "slurm-24.11", "deepspeed", "torchrun", "openmpi", "dataloader", "nccl"),
}
# For people, for iacgen itself, or copied byte by byte to a host by a role: no program that a judge can start reads them.
NOBODY_READS = {".iacgen/manifest.json", ".iacgen/resolved.yaml", "README.md", "report.html", "report.md"}
COPIED_TO_HOSTS = {
    "roles/ib_host/files/sysctl.conf", "roles/nvidia_driver/files/nouveau.conf", "roles/opensm/files/opensm-fabric@.service",
    "roles/opensm/files/opensm-guids", "roles/roce_host/files/roce-lossless.service", "roles/roce_host/files/sysctl.conf", "roles/roce_host/files/udev.rules", "roles/slurm/files/slurmd.conf",
}  # fmt: skip
# Lists for people, and for programs that are no judge here; of an InfiniBand fabric the judge of opensm reads the others.
LISTS = {"README.md", "bill-of-materials.csv", "fabric.svg", "netbox-cables.csv"}
ETHERNET = LISTS | {"cables.csv", "p2p.csv", "plan.csv", "ports.csv", "topology.dot"}
FABRICS = {
    "lab": {"compute": ETHERNET | {"switches/common.yaml", "switches/compute-leaf1.yaml"}, "mgmt": ETHERNET},
    "superpod-h100": {"compute": LISTS | {"rail.svg"}, "storage": LISTS, "mgmt": ETHERNET | {"rail.svg"}, "oob": ETHERNET},
    "aws-p5": {},
}
HALLS = {
    "lab": {"cables.csv", "power.csv", "racks.csv", "lab-room.svg"},
    "superpod-h100": {"cables.csv", "cooling.csv", "feeds.csv", "power.csv", "racks.csv", "hall-a.svg"},
    "aws-p5": set(),
}
SITES = {"lab": "ansible/lab-room", "superpod-h100": "ansible/hall-a", "aws-p5": None}


@pytest.mark.parametrize("tree", [pytest.param(t, marks=pytest.mark.judge(*judges)) for t, judges in NEEDS.items()])
def test_every_judge_accepts_the_tree(tree):
    done = subprocess.run([sys.executable, "-m", "iacgen", "verify", "--require", "--format", "json", OUT / tree], capture_output=True, text=True, timeout=300)
    answer = json.loads(done.stdout)
    assert {v["judge"] for v in answer["verdicts"] if v["status"] == "passed"} == set(NEEDS[tree]), answer
    assert {v["status"] for v in answer["verdicts"]} <= {"passed", "not-applicable", "other-version"}
    assert answer["edited"] == []
    assert done.returncode == 0


@pytest.mark.parametrize("tree", NEEDS)
def test_the_files_that_no_judge_reads_are_known(tree):
    site = SITES[tree]
    copied = {f"{site}/{path}" for path in COPIED_TO_HOSTS} if site else set()
    ignored = {"terraform/ohio/.gitignore"} if tree == "aws-p5" else set()
    lists = {f"fabric/{name}/{path}" for name, paths in FABRICS[tree].items() for path in paths} | {f"facility/{path}" for path in HALLS[tree]}
    assert set(unread(OUT / tree)) == NOBODY_READS | copied | ignored | lists


@pytest.mark.parametrize("tree", NEEDS)
def test_a_judge_is_needed_exactly_where_it_has_files(tree):
    needed = {name for name in JUDGES if judge(name).applies(OUT / tree)}
    assert {n.split("-")[0] for n in needed} == {n.split("-")[0] for n in NEEDS[tree]}


def verdict(judge, status):
    return Verdict(judge, "x", None, status, 0.0)


@pytest.mark.parametrize(
    ("statuses", "bad"),
    [
        ({"slurm-22.05": "other-version", "slurm-24.11": "passed"}, []),
        ({"slurm-22.05": "other-version", "slurm-24.11": "missing"}, ["slurm-22.05", "slurm-24.11"]),
        ({"slurm-22.05": "other-version", "slurm-24.11": "needs-root"}, ["slurm-22.05", "slurm-24.11"]),
        ({"deepspeed": "other-version"}, ["deepspeed"]),
        ({"nccl": "failed", "terraform": "not-applicable"}, ["nccl"]),
        ({"opensm": "in-part", "simgrid": "passed"}, ["opensm"]),
        ({"slurm-22.05": "failed", "slurm-24.11": "passed"}, ["slurm-22.05"]),
    ],
)
def test_what_require_does_not_accept(statuses, bad):
    assert [v.judge for v in unproven([verdict(j, s) for j, s in statuses.items()])] == bad


def test_a_tree_of_nobody_is_refused(tmp_path):
    done = subprocess.run([sys.executable, "-m", "iacgen", "verify", tmp_path], capture_output=True, text=True)
    assert done.returncode == 2 and "not an output folder" in done.stderr


def test_an_unknown_judge_is_refused():
    done = subprocess.run([sys.executable, "-m", "iacgen", "verify", "--only", "nobody", OUT / "lab"], capture_output=True, text=True)
    assert done.returncode == 2 and "nobody" in done.stderr
