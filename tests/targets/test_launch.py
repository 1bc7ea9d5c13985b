"""The launch scripts, run for real: what the training program is started with, rank by rank."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from iacgen.output import apply, plan
from iacgen.pipeline import run
from iacgen.targets import data, deepspeed, megatron, nccl
from iacgen.verify import programs

BLUEPRINTS = Path(__file__).parents[2] / "blueprints"
# Stands in for the training program: says how it was started.
PROGRAM = f"""#!{sys.executable}
import json, os, sys
folder = os.environ["SAID"]
with open(os.path.join(folder, os.environ["RANK"]), "w") as file:
    json.dump({{"argv": sys.argv[1:], "env": dict(os.environ)}}, file)
"""

# Stands in for pdsh: the words behind the options are one line for each host's shell, which knows its number as %n. The other
# host's shell has an environment of its own, so that only what DeepSpeed hands on arrives.
PDSH = """#!/bin/bash
while [[ $1 == -* ]]; do case $1 in -f) shift 2 ;; -w) hosts=${2//,/ }; shift 2 ;; *) shift ;; esac; done
words=$*
n=0
for host in $hosts; do
    env -i ON="$host" SAID="$SAID" HOME="$HOME" DS_ACCELERATOR=cpu bash -c "${words//%n/$n}" &
    n=$((n + 1))
done
wait
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """The trees of lab and superpod, as far as a rank needs them."""
    root = tmp_path_factory.mktemp("trees")
    for name in ("lab", "superpod-h100"):
        project = run((BLUEPRINTS / f"{name}.yaml").read_text(), name).project
        files = deepspeed.render(project) | megatron.render(project) | data.render(project) | nccl.render(project)
        apply(plan(files, root / name), root / name)
    return root


@pytest.fixture
def start(tmp_path, tree):
    """Start a launch script with a stand-in for the training program; what each rank said, by rank."""
    program = tmp_path / "program"
    program.write_text(PROGRAM)
    program.chmod(0o755)

    def run_it(script, *arguments, check=True, **environment):
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHON": str(program), "SAID": str(tmp_path / "said"), **environment}
        (tmp_path / "said").mkdir(exist_ok=True)
        done = subprocess.run([tree / script, *arguments], env=env, capture_output=True, text=True, timeout=300)
        assert not check or done.returncode == 0, done.stderr
        said = {int(file.name): json.loads(file.read_text()) for file in (tmp_path / "said").iterdir()}
        return said, done

    return run_it


def slurm(rank, tasks, **more):
    return {"SLURM_PROCID": str(rank), "SLURM_LOCALID": str(rank % 8), "SLURM_NTASKS": str(tasks), "MASTER_ADDR": "gpu0007", **more}


def test_a_megatron_rank_gets_every_argument_and_its_place(start, tree):
    said, _ = start("superpod-h100/training/pretrain/launch.sh", "--lr=0.0001", **slurm(700, 1008))
    argv, env = said[700]["argv"], said[700]["env"]
    assert argv == ["/opt/train/pretrain.py", *(tree / "superpod-h100/training/pretrain/megatron.args").read_text().splitlines(), "--lr=0.0001"]
    assert {name: env[name] for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")} == {
        "RANK": "700", "LOCAL_RANK": "4", "WORLD_SIZE": "1008", "LOCAL_WORLD_SIZE": "8", "MASTER_ADDR": "gpu0007", "MASTER_PORT": "29500",
    }  # fmt: skip
    assert env["CUDA_DEVICE_MAX_CONNECTIONS"] == "1"
    assert env["NCCL_IB_HCA"].startswith("=mlx5_")


def test_a_deepspeed_rank_gets_its_configuration_and_the_plan(start, tree):
    said, _ = start("superpod-h100/training/finetune/launch.sh", "--seed", "1", **slurm(9, 256, MASTER_PORT="4000"))
    assert said[9]["argv"] == ["/opt/train/pretrain.py", "--deepspeed", "--deepspeed_config", str(tree / "superpod-h100/training/finetune/ds_config.json"), "--seed", "1"]
    env = said[9]["env"]
    assert (env["RANK"], env["LOCAL_RANK"], env["WORLD_SIZE"], env["MASTER_PORT"]) == ("9", "1", "256", "4000")
    assert (env["TRAIN_RECOMPUTE"], env["TRAIN_CHECKPOINTS"]) == ("full", "/scratch/checkpoints/finetune")
    assert env["NCCL_IB_HCA"].startswith("=mlx5_")


def test_a_blank_in_the_path_is_no_hindrance_to_a_rank(start, tree):
    odd = (tree / "lab").rename(tree / "the lab")
    try:
        said, _ = start("the lab/training/pretrain/launch.sh", **slurm(3, 16))
        _, without_slurm = start("the lab/training/pretrain/launch.sh", check=False)
    finally:
        odd.rename(tree / "lab")
    assert said[3]["argv"][-1] == f"{odd}/training/pretrain/ds_config.json"
    assert "cannot hand on the path" in without_slurm.stderr


@pytest.mark.parametrize("script", ["superpod-h100/training/pretrain/launch.sh", "lab/training/pretrain/launch.sh"])
@pytest.mark.parametrize(
    ("environment", "complaint"),
    [
        ({**slurm(0, 8)}, "8 ranks, but the job was planned for"),
        ({k: v for k, v in slurm(0, 1008).items() if k != "MASTER_ADDR"}, "MASTER_ADDR is not set"),
    ],
)
def test_a_job_of_another_size_or_without_an_address_is_refused(start, script, environment, complaint):
    said, done = start(script, check=False, **environment)
    assert (done.returncode, said) == (1, {})
    assert complaint in done.stderr


def test_megatron_outside_slurm_is_refused(start):
    _, done = start("superpod-h100/training/pretrain/launch.sh", check=False)
    assert done.returncode == 1
    assert "slurm/pretrain.sbatch" in done.stderr


@pytest.mark.parametrize("missing", ["hostfile", ".deepspeed_env"])
def test_deepspeed_s_launcher_is_not_started_without_its_files(start, tree, missing):
    """To DeepSpeed a missing hostfile means this host alone."""
    file = tree / "lab/training/pretrain" / missing
    aside = file.rename(file.with_name("aside"))
    try:
        _, done = start("lab/training/pretrain/launch.sh", check=False)
    finally:
        aside.rename(file)
    assert done.returncode == 1
    assert f"no {file}" in done.stderr


@pytest.mark.judge("deepspeed")
def test_deepspeed_s_own_launcher_runs_the_script_for_each_rank(start, tree, tmp_path):
    """Without Slurm: DeepSpeed's real launcher on both hosts of the lab; stand-ins for ssh and pdsh stay on this machine."""
    away = tmp_path / "bin"
    away.mkdir()
    for name, text in {"ssh": "#!/bin/sh\nexit 0\n", "pdsh": PDSH}.items():
        (away / name).write_text(text)
        (away / name).chmod(0o755)
    path = f"{away}:{programs.find('deepspeed').path.parent}:{os.environ['PATH']}"
    said, done = start("lab/training/pretrain/launch.sh", "--seed", "1", PATH=path, DS_ACCELERATOR="cpu", LD_LIBRARY_PATH="/opt/a:/opt/b c", NCCL_DEBUG="INFO", HF_TOKEN="secret", MINE="1", HAND_ON="MINE")
    assert sorted(said) == list(range(16)), done.stdout + done.stderr
    wanted = dict(line.split("=", 1) for line in (tree / "lab/training/pretrain/.deepspeed_env").read_text().splitlines())
    for rank, seen in said.items():
        env = seen["env"]
        assert env["ON"] == ("gpu0001" if rank < 8 else "gpu0002")
        assert (env["LOCAL_RANK"], env["WORLD_SIZE"], env["MASTER_ADDR"], env["MASTER_PORT"]) == (str(rank % 8), "16", "gpu0001", "29500")
        assert seen["argv"][0] == "/opt/train/pretrain.py"
        assert seen["argv"][-2:] == ["--seed", "1"]
        assert env["TRAIN_MODEL"] == "llama-3-8b"
        assert {name: env[name] for name in wanted} == wanted
        assert (env["PATH"], env["LD_LIBRARY_PATH"], env["MINE"], env.get("HF_TOKEN")) == (path, "/opt/a:/opt/b c", "1", None)
