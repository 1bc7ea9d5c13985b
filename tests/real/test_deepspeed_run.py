"""DeepSpeed really trains with what we write: two processes on this machine's processor, from torchrun.sh to a saved state."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from iacgen.output import apply, plan
from iacgen.pipeline import run
from iacgen.targets import data, deepspeed, launchers, nccl
from iacgen.training import plan as plan_job
from iacgen.verify import programs

ROOT = Path(__file__).parents[2]
STEPS = 4
# A small network on bf16; all sizes come from the files. The first line keeps DeepSpeed from compiling shared-memory collectives in C++, which
# takes minutes; torch's own optimizer keeps it from compiling one of its own.
PROGRAM = """
import argparse, json, os, sys
import deepspeed, torch
deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
parser = argparse.ArgumentParser()
parser = deepspeed.add_config_arguments(parser)
args = parser.parse_args()
torch.manual_seed(1)
width, rank = 64, int(os.environ["RANK"])
net = torch.nn.Sequential(torch.nn.Linear(width, 2 * width), torch.nn.GELU(), torch.nn.Linear(2 * width, width))
engine, *_ = deepspeed.initialize(args=args, model=net, optimizer=torch.optim.AdamW(net.parameters(), lr=1e-2))
passes = engine.gradient_accumulation_steps() * %d
torch.manual_seed(100 + rank)
inputs = torch.randn(engine.train_micro_batch_size_per_gpu(), width)
losses = []
for _ in range(passes):
    out = engine(inputs.to(torch.bfloat16))
    loss = torch.nn.functional.mse_loss(out.float(), torch.sin(inputs))
    engine.backward(loss)
    engine.step()
    losses.append(loss.item())
engine.save_checkpoint(os.environ["TRAIN_CHECKPOINTS"])
told = {"steps": engine.global_steps, "stage": engine.zero_optimization_stage(), "batch": engine.train_batch_size(), "world": torch.distributed.get_world_size(), "losses": losses}
with open(os.path.join(os.environ["SAID"], str(rank)), "w") as file:
    json.dump(told, file)
""" % STEPS


@pytest.fixture
def two_ranks(tmp_path):
    """A tree whose DeepSpeed job has one host of two ranks, and what each rank says of its run."""
    lab = run((ROOT / "blueprints/lab.yaml").read_text(), "lab").project
    pool = lab.design.pools["gpu"]
    system = pool.system.model_copy(update={"gpus": 2, "nvlink_domain_gpus": 2, "gpu_numa": (0, 1)})
    model = lab.jobs["pretrain"].spec.model.model_copy(update={"layers": 2, "hidden": 256, "heads": 4, "kv_heads": 4, "head_dim": 64, "ffn_hidden": 512, "vocabulary": 1024})
    (tmp_path / "said").mkdir()
    (tmp_path / "train.py").write_text(PROGRAM)
    spec = replace(
        lab.jobs["pretrain"].spec, nodes=1, gpus_per_node=2, model=model, sequence=128, micro_batch=2, global_batch=8, recompute="none", entrypoint=str(tmp_path / "train.py"),
    )  # fmt: skip
    project = replace(lab, design=replace(lab.design, pools={**lab.design.pools, "gpu": replace(pool, system=system)}))

    def start(**changes):
        job, findings = plan_job(replace(spec, **changes))
        assert job, findings
        placed = replace(lab.placements["pretrain"], hosts=("gpu0001",), gpus_per_node=2)
        made = replace(project, jobs={"pretrain": job}, placements={"pretrain": placed})
        folder = tmp_path / "tree"
        apply(plan(deepspeed.render(made) | launchers.render(made) | nccl.render(made) | data.render(made), folder), folder)
        return folder, _started(tmp_path, folder)

    return start


def _started(tmp_path, folder):
    """Run torchrun.sh as the host gpu0001, whose address is this machine's own."""
    python = programs.find("deepspeed").path
    wrapped = tmp_path / "torchrun"
    wrapped.write_text(f'#!/bin/bash\nexec {python.parent}/torchrun "${{@/--master-addr=gpu0001/--master-addr=127.0.0.1}}"\n')
    (tmp_path / "uname").write_text("#!/bin/sh\necho gpu0001\n")
    # What nccl.sh says of interfaces and job.env of folders is the cluster's: here there is the loopback interface alone.
    own = tmp_path / "python"
    own.write_text(f'#!/bin/bash\nexport GLOO_SOCKET_IFNAME=lo TRAIN_CHECKPOINTS={tmp_path}/saved\nexec {python} "$@"\n')
    for program in (wrapped, own, tmp_path / "uname"):
        program.chmod(0o755)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    env = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path), "PYTHON": str(own), "TORCHRUN": str(wrapped), "SAID": str(tmp_path / "said"), "MASTER_PORT": str(port),
        "DS_ACCELERATOR": "cpu", "OMP_NUM_THREADS": "1", "TORCH_EXTENSIONS_DIR": str(tmp_path / "extensions"),
    }  # fmt: skip
    process = subprocess.Popen(["bash", folder / "training/pretrain/torchrun.sh"], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    try:
        said, _ = process.communicate(timeout=280)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said, _ = process.communicate()
    assert process.returncode == 0, said[-3000:]
    return {rank: json.loads((tmp_path / "said" / str(rank)).read_text()) for rank in (0, 1)}


@pytest.mark.judge("deepspeed")
def test_two_processes_train_with_the_generated_file_and_save(two_ranks, tmp_path):
    folder, ranks = two_ranks(zero=3)
    config = json.loads((folder / "training/pretrain/ds_config.json").read_text())
    for said in ranks.values():
        assert (said["stage"], said["batch"], said["world"], said["steps"]) == (3, config["train_batch_size"], 2, STEPS)
        assert len(said["losses"]) == STEPS * config["gradient_accumulation_steps"]
        assert said["losses"][-1] < said["losses"][0]
    saved = {p.name for p in (tmp_path / "saved").rglob("*.pt")}
    assert {name for name in saved if "optim_states" in name} == {f"bf16_zero_pp_rank_{rank}_mp_rank_00_optim_states.pt" for rank in (0, 1)}
    assert (tmp_path / "saved/latest").read_text() == f"global_step{STEPS}"
