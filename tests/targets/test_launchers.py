"""Launchers beside Slurm: their scripts run for real with stand-ins, host and rank file in the order of the placement."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from iacgen import catalog
from iacgen.output import apply, plan
from iacgen.pipeline import run
from iacgen.targets import data, launchers, megatron, nccl
from iacgen.verify import programs

ROOT = Path(__file__).parents[2]
# Stands in for a launcher: says with which words it was started.
SAYS = f"#!{sys.executable}\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n"


@pytest.fixture(scope="module")
def superpod():
    return run((ROOT / "blueprints/superpod-h100.yaml").read_text(), "superpod").project


@pytest.fixture(scope="module")
def tree(tmp_path_factory, superpod):
    folder = tmp_path_factory.mktemp("tree")
    apply(plan(launchers.render(superpod) | megatron.render(superpod) | data.render(superpod) | nccl.render(superpod), folder), folder)
    return folder


def start(tmp_path, script, program, host="gpu0001", **environment):
    """Run a script with stand-ins for its launcher and for uname."""
    for name, text in {program: SAYS, "uname": f"#!/bin/sh\necho {host}.cluster.internal\n"}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path), **environment}
    return subprocess.run([script, "--lr=1e-4"], env=env, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("line", [0, 1, 125])
def test_a_node_s_number_is_its_line_in_the_hostfile(tmp_path, tree, superpod, line):
    hosts = superpod.placements["pretrain"].hosts
    done = start(tmp_path, tree / "training/pretrain/torchrun.sh", "torchrun", hosts[line], MASTER_PORT="4000")
    words = json.loads(done.stdout)
    assert f"--node-rank={line}" in words
    assert {f"--master-addr={hosts[0]}", "--master-port=4000", "--nnodes=126", "--nproc-per-node=8", "--rdzv-backend=static"} <= set(words)
    assert words[-3:] == ["bash", str(tree / "training/pretrain/launch.sh"), "--lr=1e-4"]


def test_a_host_that_is_not_placed_starts_nothing(tmp_path, tree):
    done = start(tmp_path, tree / "training/pretrain/torchrun.sh", "torchrun", "gpu9999")
    assert (done.returncode, done.stdout) == (1, "")
    assert "gpu9999" in done.stderr


def test_mpirun_gets_both_files(tmp_path, tree):
    done = start(tmp_path, tree / "training/pretrain/mpirun.sh", "mpirun", MASTER_PORT="4000", HF_TOKEN="secret", MINE="1", HAND_ON="MINE")
    folder = tree / "training/pretrain"
    files, handed = ["--hostfile", f"{folder}/hostfile", "--map-by", f"rankfile:file={folder}/rankfile", "-np", "1008"], ["-x", "MASTER_PORT", "-x", "MINE", "-x", "PATH"]
    assert json.loads(done.stdout) == [*files, *handed, "bash", f"{folder}/launch.sh", "--lr=1e-4"]


@pytest.mark.judge("openmpi")
def test_ranks_of_another_host_have_the_environment_of_this_one(tmp_path, superpod):
    """Real Open MPI on two hosts of one rank each; what stands in for ssh starts a shell with a bare environment, as sshd does."""
    placed = replace(superpod.placements["pretrain"], hosts=("gpu0001", "gpu0002"), gpus_per_node=1)
    pool = superpod.design.pools["gpu"]
    system = pool.system.model_copy(update={"gpus": 1, "gpu_numa": (0,), "sockets": 1, "cores_per_socket": 1})
    design = replace(superpod.design, pools={**superpod.design.pools, "gpu": replace(pool, system=system)})
    job = superpod.jobs["pretrain"]
    spec = replace(job.spec, nodes=2, gpus_per_node=1, tensor=1, pipeline=2, virtual=1, context=1)
    made = replace(superpod, design=design, placements={"pretrain": placed}, jobs={"pretrain": replace(job, spec=spec, world=2)})
    apply(plan(launchers.render(made) | megatron.render(made) | data.render(made) | nccl.render(made), tmp_path / "tree"), tmp_path / "tree")
    (tmp_path / "agent").write_text('#!/bin/bash\nhost=$1\nshift\nexec env -i HOME=/ PATH=/usr/bin:/bin ON="$host" setsid sh -c "$*"\n')
    (tmp_path / "python").write_text(f"#!/bin/bash\nenv >{tmp_path}/$RANK\n")
    for name in ("agent", "python"):
        (tmp_path / name).chmod(0o755)
    more = {"PYTHON": str(tmp_path / "python"), "MASTER_PORT": "4000", "LD_LIBRARY_PATH": "/opt/a:/opt/b c", "HF_TOKEN": "secret", "PATH": f"{programs.find('openmpi').path.parent}:/opt/own:{os.environ['PATH']}"}
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    env = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PRTE_MCA_plm_ssh_agent": str(tmp_path / "agent"), **more, **root}
    done = subprocess.run([tmp_path / "tree/training/pretrain/mpirun.sh"], env=env, capture_output=True, text=True, timeout=40)
    assert done.returncode == 0, done.stderr
    for rank, host in enumerate(placed.hosts):
        said = dict(line.split("=", 1) for line in (tmp_path / str(rank)).read_text().splitlines() if "=" in line)
        assert (said["ON"], said["RANK"], said["WORLD_SIZE"], said["MASTER_ADDR"], said["MASTER_PORT"]) == (host, str(rank), "2", "gpu0001", "4000")
        assert said["PATH"].endswith(more["PATH"]) and more["LD_LIBRARY_PATH"] in said["LD_LIBRARY_PATH"]
        assert "HF_TOKEN" not in said


def test_the_rank_file_has_a_line_for_each_rank_in_the_order_of_the_placement(superpod):
    placement = superpod.placements["pretrain"]
    turned = replace(superpod, placements={**superpod.placements, "pretrain": replace(placement, hosts=placement.hosts[::-1])})
    lines = launchers.render(turned)["training/pretrain/rankfile"].splitlines()
    found = [re.fullmatch(r"rank (\d+)=(\S+) slot=(\d+)-(\d+)", line).groups() for line in lines]
    assert [(int(rank), host) for rank, host, _, _ in found] == [(8 * i + k, host) for i, host in enumerate(placement.hosts[::-1]) for k in range(8)]


@pytest.mark.parametrize(("system", "cores"), [("dgx-h100", [14] * 8), ("dgx-gb200", [36] * 4), ("dgx-a100", [16] * 8)])
def test_ranks_of_a_host_share_all_its_cores_and_each_lies_on_the_socket_of_its_gpu(superpod, system, cores):
    entry = catalog.system(system)
    spans = [tuple(map(int, text.split("-"))) for text in launchers.cores(replace(superpod.design.pools["gpu"], system=entry), entry.gpus)]
    assert [last - first + 1 for first, last in spans] == cores
    assert sorted(core for first, last in spans for core in range(first, last + 1)) == list(range(entry.sockets * entry.cores_per_socket))
    assert [first // entry.cores_per_socket for first, _ in spans] == list(entry.gpu_numa)


def test_deepspeed_s_own_hostfile_is_not_written_twice(superpod):
    assert "training/pretrain/hostfile" in launchers.render(superpod)
    assert "training/finetune/hostfile" not in launchers.render(superpod)


RANK = f"""#!{sys.executable}
import json, os
print(json.dumps({{k: os.environ[k] for k in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")}}))
"""


@pytest.mark.parametrize(
    "names",
    [
        {"OMPI_COMM_WORLD_RANK": "700", "OMPI_COMM_WORLD_LOCAL_RANK": "4", "OMPI_COMM_WORLD_SIZE": "1008"},
        {"OMPI_COMM_WORLD_RANK": "700", "OMPI_COMM_WORLD_LOCAL_RANK": "4", "OMPI_COMM_WORLD_SIZE": "1008", "SLURM_PROCID": "87", "SLURM_NTASKS": "126", "SLURM_LOCALID": "0"},
        {"RANK": "700", "LOCAL_RANK": "4", "WORLD_SIZE": "1008", "LOCAL_WORLD_SIZE": "8", "MASTER_ADDR": "gpu0032", "MASTER_PORT": "29500", "TORCHELASTIC_RUN_ID": "none", "SLURM_PROCID": "87", "SLURM_NTASKS": "126", "SLURM_LOCALID": "0"},
    ],
    ids=["mpirun", "mpirun-in-slurm", "torchrun-in-slurm"],
)  # fmt: skip
def test_a_rank_of_another_launcher_takes_its_place(tmp_path, tree, superpod, names):
    (tmp_path / "python").write_text(RANK)
    (tmp_path / "python").chmod(0o755)
    env = {"PATH": os.environ["PATH"], "PYTHON": str(tmp_path / "python"), **names}
    done = subprocess.run([tree / "training/pretrain/launch.sh"], env=env, capture_output=True, text=True, timeout=60)
    first = superpod.placements["pretrain"].hosts[0]
    assert json.loads(done.stdout) == {"RANK": "700", "LOCAL_RANK": "4", "WORLD_SIZE": "1008", "LOCAL_WORLD_SIZE": "8", "MASTER_ADDR": first, "MASTER_PORT": "29500"}


@pytest.mark.parametrize("names", [{"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_LOCAL_RANK": "0", "OMPI_COMM_WORLD_SIZE": "8"}, {"RANK": "0", "WORLD_SIZE": "8"}])
def test_a_job_of_another_size_is_refused_whoever_starts_it(tree, names):
    done = subprocess.run([tree / "training/pretrain/launch.sh"], env={"PATH": os.environ["PATH"], **names}, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "8 ranks, but the job was planned for 1008" in done.stderr


@pytest.mark.judge("torchrun")
def test_torchrun_really_numbers_ranks_so(tmp_path):
    """Two real torchruns on this machine, each a node of two ranks by the static rendezvous: the second one started first."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = tmp_path / "rank.sh"
    program.write_text('#!/bin/bash\necho "$RANK $LOCAL_RANK $GROUP_RANK $WORLD_SIZE" >"$1/$RANK"\n')
    torchrun = programs.find("torchrun").path.parent / "torchrun"
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "OMP_NUM_THREADS": "1"}
    words = ["--nnodes=2", "--nproc-per-node=2", "--rdzv-backend=static", "--master-addr=127.0.0.1", f"--master-port={port}", "--max-restarts=0", "--no-python", "bash", program, tmp_path]
    nodes = [subprocess.Popen([torchrun, f"--node-rank={node}", *words], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for node in (1, 0)]
    try:
        ended = [node.communicate(timeout=120)[1] for node in nodes]
    finally:
        for node in nodes:
            node.kill()
    assert [node.returncode for node in nodes] == [0, 0], ended
    assert [(tmp_path / str(rank)).read_text().split() for rank in range(4)] == [["0", "0", "0", "4"], ["1", "1", "0", "4"], ["2", "0", "1", "4"], ["3", "1", "1", "4"]]
