"""The rank map on real daemons: 32 slurmd run the generated batch script, and every rank tells where it is."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from iacgen.paths import data_folder
from iacgen.pipeline import run
from iacgen.targets import data, deepspeed, nccl, slurm

CASE = Path(__file__).parents[1] / "cases" / "slurm" / "interleaved.yaml"
LOOPBACK = "0100007F"  # 127.0.0.1 as /proc/net/tcp prints it

# Stands in for Python: the batch script and the launch script around it are the generated ones.
PROBE = """#!/bin/sh
mkdir -p "$IACGEN_CLUSTER_DIR/seen"
echo "$SLURMD_NODENAME $LOCAL_RANK $CUDA_VISIBLE_DEVICES $SLURM_TOPOLOGY_ADDR $MASTER_ADDR $SLURM_PROCID $WORLD_SIZE" >"$IACGEN_CLUSTER_DIR/seen/$RANK"
"""
# Stands in for the adapters, which this machine has not: every port is up at its rate.
IBSTAT = """#!/bin/sh
printf 'State: Active\\nPhysical state: LinkUp\\nRate: 400\\n'
"""


def _lab_module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("iacgen_tests_slurm_lab", Path(__file__).with_name("slurm_lab.py"))
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return module


slurm_lab = _lab_module()


@dataclass(frozen=True)
class Seen:
    """What one rank printed, after the environment that its training script gets."""

    host: str
    local_rank: str
    gpus: str
    switches: str
    master: str
    slurm_rank: str
    world: str


def job_of(version: str):
    """The project, and its generated files with the probe beside them."""
    project = run(CASE.read_text().replace('"24.11"', f'"{version}"'), CASE.name).project
    assert project
    return project, {**slurm.render(project), **deepspeed.render(project), **data.render(project), **nccl.render(project), "probe.sh": PROBE, "bin/ibstat": IBSTAT}


# Tools that this machine has not, and a step that waits until the one before it has left the nodes.
EXPECTED = re.compile(r" is not installed, so nobody asked it$|step creation temporarily disabled, retrying|^srun: Step created for ")


def ranks(lab) -> list[Seen]:
    """Submit the generated script from the cluster's folder and read what every rank says, in rank order."""
    lab.shell("rm -rf seen probe-*.out && PATH=$PWD/bin:$PATH PYTHON=$PWD/probe.sh sbatch --wait slurm/probe.sbatch || { cat probe-*.out; exit 1; }")
    said = {line for line in lab.shell("cat probe-*.out").splitlines() if not EXPECTED.search(line)}
    said = {line for line in said if "--cpus-per-task value exceeds that of job" not in line}  # the probe runs on every thread of a whole node
    assert said <= {"srun: cluster configuration lacks support for cpu binding"}, said  # the lab has no task/affinity
    files = sorted((lab.folder / "seen").iterdir(), key=lambda file: int(file.name))
    assert [int(file.name) for file in files] == list(range(len(files)))
    return [Seen(*file.read_text().split()) for file in files]


def misplaced(seen: list[Seen], project) -> list[int]:
    """Ranks that are not where the placement and the fabric want them. The fabric is asked, not the Slurm files."""
    placement, fabric = project.placements["probe"], project.design.fabrics["compute"]
    assert len(seen) == placement.world
    unit = {host: group.name for group in fabric.groups for host in group.hosts}
    wanted = [
        Seen(host, str(rank % 8), "0,1,2,3,4,5,6,7", f"compute-spine.{unit[host]}.{host}", placement.hosts[0], str(rank), "248")
        for rank in range(placement.world)
        for host in [placement.host_of(rank)]
    ]
    return [rank for rank, (got, want) in enumerate(zip(seen, wanted, strict=True)) if got != want]


@pytest.mark.parametrize("version", [pytest.param("22.05", marks=pytest.mark.judge("slurm-22.05")), pytest.param("24.11", marks=pytest.mark.judge("slurm-24.11"))])
def test_every_rank_sits_where_the_placement_says(version):
    project, tree = job_of(version)
    placement, pool = project.placements["probe"], project.design.pools["gpu"]
    assert placement.hosts != tuple(sorted(placement.hosts)), "name order would pass without a rank file"
    assert "gpu0007" not in placement.hosts
    file = tree["slurm/probe.ranks"].splitlines()
    swapped = [file[8], *file[1:8], file[0], *file[9:]]  # ranks 0 and 8, on two nodes

    with slurm_lab.lab(version, tree, pool.hosts, set(pool.hosts) - {"gpu0007"}) as lab:
        assert lab.states()["gpu0007"] == "down"
        assert misplaced(ranks(lab), project) == []

        (lab.folder / "slurm/probe.ranks").write_text("".join(f"{host}\n" for host in swapped))
        seen = ranks(lab)
        wrong = misplaced(seen, project)
        assert {0, 8} <= set(wrong), "the comparison does not see two swapped lines"
        assert {rank.master for rank in seen} == {file[8]}, "MASTER_ADDR is not the host of rank 0"

        work, ports, pids = lab.slurm.work, lab.ports, [daemon.process.pid for daemon in lab.daemons]
        heard = slurm_lab.listening(ports)
        assert len(heard) == len(pool.hosts) + 1
        assert set(heard.values()) == {LOOPBACK}

    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []
    assert slurm_lab.processes_of(work) == []
    assert slurm_lab.listening(ports) == {}
    assert not work.exists()


@pytest.mark.judge("slurm-22.05")
def test_a_test_that_fails_while_its_job_runs_leaves_nothing():
    project = run((data_folder("blueprints") / "lab.yaml").read_text(), "lab.yaml").project
    tree, nodes = slurm.render(project), project.design.pools["gpu"].hosts
    sleeper = "#!/bin/sh\n#SBATCH --nodes=2\nsrun sleep 600\n"
    with pytest.raises(RuntimeError, match="the test fails"), slurm_lab.lab("22.05", {**tree, "sleeper": sleeper}, nodes, set(nodes)) as lab:
        lab.shell("sbatch sleeper")
        end = time.monotonic() + 30
        while not (sleeping := [line for line in slurm_lab.processes_of(lab.slurm.work) if line.endswith("sleep 600 ")]):
            assert time.monotonic() < end
            time.sleep(0.1)
        raise RuntimeError("the test fails")
    assert len(sleeping) >= 1
    assert slurm_lab.processes_of(lab.slurm.work) == []
    assert slurm_lab.listening(lab.ports) == {}


@pytest.mark.judge("slurm-22.05")
@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (lambda lines: lines[:-1], "247 lines for 248 ranks"),
        (lambda lines: [*lines, lines[0]], "249 lines for 248 ranks"),
        (lambda lines: [lines[8], *lines[1:]], "must stand there 8 times: gpu0001 has 7 gpu0005 has 9"),
        (lambda lines: ["gpu0007" if line == lines[0] else line for line in lines], "differ by: gpu0001 gpu0007"),
        (lambda lines: [lines[0] + " ", *lines[1:]], "every line must be one bare node name"),
        (lambda lines: ["gpu[0001-0002]", *lines[1:]], "every line must be one bare node name"),
        (lambda lines: [line + "\r" for line in lines], "every line must be one bare node name"),
    ],
    ids=["short", "long", "uneven", "outside-the-allocation", "blank", "bracket", "crlf"],
)
def test_the_script_refuses_a_spoilt_rank_file(spoil, complaint, tmp_path):
    """Only the checks of the script run: the allocation is told by a variable, and scontrol expands it without a controller."""
    project, tree = job_of("22.05")
    lines = spoil(tree["slurm/probe.ranks"].splitlines())
    (tmp_path / "slurm").mkdir()
    (tmp_path / "slurm/probe.ranks").write_bytes("".join(f"{line}\n" for line in lines).encode())
    (tmp_path / "slurm/probe.health").touch()
    (tmp_path / "training/probe").mkdir(parents=True)
    (tmp_path / "training/probe/launch.sh").touch()
    done = run_script(tree["slurm/probe.sbatch"], tmp_path, tree["slurm/probe.sbatch"].split("--nodelist=")[1].split()[0])
    assert (done.returncode, complaint in done.stderr) == (1, True), done.stderr


@pytest.mark.judge("slurm-22.05")
def test_the_script_names_the_folder_to_submit_from(tmp_path):
    _, tree = job_of("22.05")
    done = run_script(tree["slurm/probe.sbatch"], tmp_path, "gpu0001")
    assert done.returncode == 1
    assert "submit from the folder of the cluster, or set IACGEN_CLUSTER_DIR" in done.stderr


def run_script(script: str, folder: Path, allocation: str) -> subprocess.CompletedProcess[str]:
    """The script as slurmd would start it, up to its first complaint."""
    conf = folder / "slurm.conf"  # scontrol wants one, whatever it says
    conf.write_text("ClusterName=none\nSlurmctldHost=localhost\n")
    environment = {"PATH": os.environ["PATH"], "SLURM_SUBMIT_DIR": str(folder), "SLURM_JOB_NODELIST": allocation, "SLURM_CONF": str(conf)}
    return subprocess.run(["bash", "-s"], input=script, env=environment, capture_output=True, text=True, timeout=60)
