"""What Slurm starts with and iacgen must refuse, without a daemon: the cases are data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from iacgen.verify.slurm import rules
from iacgen.verify.slurm.files import expand, lines

CASES = Path(__file__).parents[1] / "cases"
REFUSED = yaml.safe_load((CASES / "slurm/refused.yaml").read_text())
HOSTLISTS = json.loads((CASES / "hostlists.json").read_text())

NODES = ("gpu1", "gpu2", "gpu3", "gpu4")
SLURM_CONF = "NodeName=gpu[1-4] NodeAddr=10.0.0.[1-4] Gres=gpu:h100:2\nTopologyParam=SwitchAsNodeRank,RouteTree\nSchedulerParameters=bf_window=10080,bf_continue\n"
TOPOLOGY = "# two leaves\nSwitchName=l1 Nodes=gpu[1-2]\nSwitchName=l2 \\\n  Nodes=gpu[3-4] LinkSpeed=400\nSwitchName=s Switches=l[1-2]  # root\n"
GRES = "AutoDetect=off\nNodeName=gpu[1-4] Name=gpu Type=h100 File=/dev/nvidia[0-1] Cores=0-3\n"
RANKS = "gpu3\ngpu3\ngpu1\ngpu1\ngpu4\ngpu4\n"
BATCH = "#SBATCH -N 3\n#SBATCH --exclusive\nsrun hostname\nSLURM_HOSTFILE=$ranks srun --distribution=arbitrary --ntasks=6 x\n"

CHECKS = {
    "topology.conf": lambda text, version: rules.check_topology(text, NODES, version),
    "slurm.conf": rules.check_slurm_conf,
    "gres.conf": lambda text, version: rules.check_gres(text, SLURM_CONF),
    "cgroup.conf": lambda text, version: rules.check_cgroup_conf(text),
    "ranks": lambda text, version: rules.check_ranks(text, NODES, ("gpu3", "gpu1", "gpu4"), 2, "job"),
    "sbatch": lambda text, version: rules.check_batch(text, "job"),
}
GOOD = {"topology.conf": TOPOLOGY, "slurm.conf": SLURM_CONF, "gres.conf": GRES, "cgroup.conf": "CgroupPlugin=autodetect\n", "ranks": RANKS, "sbatch": BATCH}


def version_of(case):
    major, minor = case.get("version", "24.11").split(".")
    return int(major), int(minor)


@pytest.mark.parametrize(("file", "case"), [pytest.param(file, case, id=f"{file}-{case['id']}") for file, cases in REFUSED.items() for case in cases])
def test_refused(file, case):
    findings = CHECKS[file](case["text"], version_of(case))
    assert any(case["says"] in f.message for f in findings), [f.message for f in findings]
    assert all(f.severity == "error" for f in findings)


@pytest.mark.parametrize("file", GOOD)
def test_the_base_of_every_case_is_accepted(file):
    assert CHECKS[file](GOOD[file], (24, 11)) == []


def test_a_hybrid_cluster_has_as_many_trees_as_fabrics():
    text = "SwitchName=l1 Nodes=gpu[1-2]\nSwitchName=l2 Nodes=gpu[3-4]\n"
    assert rules.check_topology(text, NODES, (24, 11), islands=2) == []
    assert "1 trees" in rules.check_topology(TOPOLOGY, NODES, (24, 11), islands=2)[0].message


def test_a_suffix_is_right_from_23_11_on():
    text = "SwitchName=l1 Nodes=gpu[1-4]-ib\n"
    names = [f"gpu{n}-ib" for n in range(1, 5)]
    assert rules.check_topology(text, names, (23, 11)) == []


@pytest.mark.parametrize("case", HOSTLISTS["expand"], ids=lambda case: case["hostlist"] or "empty")
def test_hostlists_expand_as_scontrol_does(case):
    suffix = "]-" in case["hostlist"]  # 22.05 refuses it, 23.11 expands it
    if case["refused"] and not suffix:
        with pytest.raises(ValueError, match="range"):
            expand(case["hostlist"])
    elif not suffix:
        assert expand(case["hostlist"]) == [name for name in case["names"] if name]


def test_three_brackets_multiply_as_products():
    assert expand("r[1-2]n[01-02]-ib,login") == ["r1n01-ib", "r1n02-ib", "r2n01-ib", "r2n02-ib", "login"]


@pytest.mark.parametrize("text", ["gpu[1,3", "gpu]1[", "gpu[[1]]", "gpu[1-2] cpu1", "gpu[1-9/2]", "gpu[a-c]"])
def test_hostlists_that_no_version_reads(text):
    with pytest.raises(ValueError, match="bracket|range|space"):
        expand(text)


def test_lines_keep_quoted_blanks_and_join_at_a_backslash():
    parsed = list(lines('DownNodes=gpu1 State=DOWN Reason="out of service" # broken\n\nA=1 \\\n  B=2\nC=3\n'))
    assert [line.number for line in parsed] == [1, 3, 5]
    assert parsed[0].get("reason") == "out of service"
    assert parsed[1].pairs == (("A", "1"), ("B", "2"))
