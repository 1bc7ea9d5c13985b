"""Judges of launchers and of FSDP: torchrun, Open MPI, Accelerate and TorchTitan take what we write and no spoilt file."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

import pytest

from iacgen import catalog
from iacgen.output import apply, plan
from iacgen.pipeline import run
from iacgen.targets import fsdp, launchers
from iacgen.training import plan as plan_job
from iacgen.verify import for_people, judge, programs, unread

ROOT = Path(__file__).parents[2]
SHAPES = {
    "whole": {},
    "hybrid": {"shard_group": 128, "tensor": 2, "context": 2, "global_batch": 512},
    "kept": {"zero": 2, "model": "mpt-7b", "sequence": 2048},
    "offloaded": {"offload_optimizer": "cpu", "offload_weights": "cpu"},
    "staged": {"pipeline": 8, "global_batch": 256, "entrypoint": "/opt/torchtitan/train.py"},
    "one-node": {"nodes": 1, "model": "llama-3-8b"},
    "largest": {"nodes": 2048, "model": "llama-3.1-405b", "tensor": 8, "global_batch": 4096},
}
ALL = ("torchrun", "openmpi", "accelerate", "torchtitan")
NODE = "".join(f"rank {k}=gpu0032 slot={14 * k}-{14 * k + 13}\n" for k in range(8))
# Shape, file, what to spoil and how, the judges' finding, and a word of its message.
SPOILT = [
    ("whole", "torchrun.sh", "--nnodes=32", "--nnodes=31", "rank-not-of-placement", "nodes [31, 31]"),
    ("whole", "torchrun.sh", "--nproc-per-node=8", "--nproc-per-node=4", "rank-not-of-placement", "ranks 4"),
    ("whole", "torchrun.sh", "--rdzv-backend=static", "--rdzv-backend=c10d", "rank-not-of-placement", "backend c10d"),
    ("whole", "torchrun.sh", "--nnodes=32", "--nnodes=many", "torchrun-refused", "many"),
    ("whole", "torchrun.sh", "--max-restarts=0", "--max-restarts=3", "rank-not-of-placement", "restarts 3"),
    ("whole", "torchrun.sh", '{print NR - 1}', '{print NR}', "launch-not-of-plan", "line in the hostfile"),
    ("whole", "hostfile", "gpu0032 slots=8\ngpu0033 slots=8", "gpu0033 slots=8\ngpu0032 slots=8", "hostfile-not-of-placement", "hostfile:1"),
    ("whole", "rankfile", "rank 0=gpu0032", "rank 0=gpu0001", "openmpi-refused", "gpu0001"),
    ("whole", "rankfile", "rank 0=gpu0032 slot=0-13", "rank 0=gpu0032 slot=0-1300", "openmpi-refused", "1300"),
    ("whole", "rankfile", "rank 1=gpu0032 slot=14-27", "rank 1=gpu0032 slot=0-13", "openmpi-refused", "overload-allowed"),
    ("whole", "rankfile", NODE, NODE.replace("slot=0-13", "slot=56-69").replace("slot=56-69\nrank 5", "slot=0-13\nrank 5"), "rank-not-of-placement", "socket 0"),
    ("whole", "rankfile", "rank 0=gpu0032 slot=0-13\n", "", "openmpi-refused", "rank"),
    ("whole", "mpirun.sh", "-np 256", "-np 255", "launch-not-of-plan", "255"),
    ("whole", "accelerate.yaml", "distributed_type: FSDP", "distributed_typ: FSDP", "accelerate-refused", "distributed_type"),
    ("whole", "accelerate.yaml", "num_machines: 32", "num_machines: 32\nnum_machine: 1", "accelerate-refused", "num_machine"),
    ("whole", "accelerate.yaml", "fsdp_reshard_after_forward: true", "fsdp_reshard_after_forward: false", "sharding-not-of-plan", "RESHARD"),
    ("whole", "accelerate.yaml", "num_processes: 256", "num_processes: 128", "rank-not-of-placement", "nproc_per_node 4"),
    ("whole", "accelerate.yaml", "main_process_ip: gpu0032", "main_process_ip: gpu0033", "rank-not-of-placement", "gpu0033"),
    ("hybrid", "accelerate.yaml", "parallelism_config_dp_shard_size: 64", "parallelism_config_dp_shard_size: 128", "sharding-not-of-plan", "DP_SHARD_SIZE"),
    ("hybrid", "job.env", "PARALLELISM_CONFIG_DP_SHARD_SIZE=64", "PARALLELISM_CONFIG_DP_SHARD_SIZE=128", "sharding-not-of-plan", "job.env"),
    ("whole", "job.env", "FSDP_VERSION=2\n", "", "sharding-not-of-plan", "FSDP_VERSION is missing"),
    ("whole", "job.env", "ACCELERATE_GRADIENT_ACCUMULATION_STEPS=1", "ACCELERATE_GRADIENT_ACCUMULATION_STEPS=8", "sharding-not-of-plan", "takes 8 passes"),
    ("hybrid", "job.env", "ACCELERATE_GRADIENT_ACCUMULATION_STEPS=", "ACCELERATE_ACCUMULATION=", "sharding-not-of-plan", "takes 1 passes"),
    ("whole", "job.env", "TRAIN_RECOMPUTE=full", "TRAIN_RECOMPUTE=none", "launch-not-of-plan", "TRAIN_RECOMPUTE"),
    ("whole", "launch.sh", "source_nccl\n# With", "# With", "launch-not-of-plan", "source_nccl"),
    ("whole", "torchtitan.toml", "tensor_parallel_degree = 1", "tensor_parallel = 1", "torchtitan-refused", "tensor_parallel"),
    ("whole", "torchtitan.toml", "seq_len = 8192", "seq_len = 4096", "sharding-not-of-plan", "seq_len"),
    ("whole", "torchtitan.toml", 'flavor = "70B"', 'flavor = "8B"', "sharding-not-of-plan", "dim 4096"),
    ("whole", "torchtitan.toml", 'flavor = "70B"', 'flavor = "7B"', "sharding-not-of-plan", "no such flavor"),
    ("whole", "torchtitan.toml", 'mode = "full"', 'mode = "ful"', "sharding-not-of-plan", "activation_checkpoint.mode"),
    ("staged", "torchtitan.toml", "pipeline_parallel_first_stage_less_layers = 0", "pipeline_parallel_first_stage_less_layers = 1", "sharding-not-of-plan", "first_stage"),
    ("staged", "launch.sh", ' --job.config_file="$here/torchtitan.toml"', "", "launch-not-of-plan", "words of the blueprint"),
]  # fmt: skip


@pytest.fixture(scope="module")
def project():
    """The SuperPOD with an FSDP job for each shape, and a copy of one for each way to spoil it."""
    text = (ROOT / "blueprints/superpod-h100.yaml").read_text().replace("framework: deepspeed\n    zero: 3", "framework: fsdp\n    zero: 3")
    made = run(text, "superpod").project
    spec, jobs, placements = made.jobs["finetune"].spec, {}, {}
    names = {name: name for name in SHAPES} | {f"spoilt{i}": shape for i, (shape, *_) in enumerate(SPOILT)}
    for name, shape in names.items():
        changes = {key: catalog.model(value) if key == "model" else value for key, value in SHAPES[shape].items()}
        jobs[name], findings = plan_job(replace(spec, name=name, **changes))
        assert jobs[name], findings
        hosts = made.placements["finetune"].hosts
        many = hosts if jobs[name].spec.nodes == 32 else tuple(f"gpu{i:04}" for i in range(jobs[name].spec.nodes, 0, -1))
        placements[name] = replace(made.placements["finetune"], job=name, hosts=many)
    return replace(made, jobs=jobs, placements=placements)


def written(folder, project):
    apply(plan(fsdp.render(project) | launchers.render(project), folder), folder)
    return folder


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory, project):
    """Each judge once over all jobs, sound and spoilt."""
    tree = written(tmp_path_factory.mktemp("tree"), project)
    for i, (_, file, old, new, _, _) in enumerate(SPOILT):
        path = tree / "training" / f"spoilt{i}" / file
        text = path.read_text()
        assert old in text, (file, old)
        path.write_text(text.replace(old, new))
    return {name: judge(name).verify(tree, project) for name in ALL}


def of_job(verdict, name):
    return [f for f in verdict.findings if f"training/{name}/" in f.message]


@pytest.mark.judge(*ALL)
@pytest.mark.parametrize("name", SHAPES)
def test_all_four_take_what_we_write_for_8_to_16384_ranks(verdicts, name):
    assert {judge: of_job(verdict, name) for judge, verdict in verdicts.items()} == dict.fromkeys(ALL, [])


@pytest.mark.judge(*ALL)
@pytest.mark.parametrize("i", range(len(SPOILT)), ids=[f"{file}-{new[:40].strip() or old[:40].strip()}" for _, file, old, new, _, _ in SPOILT])
def test_a_spoilt_file_is_refused(verdicts, i):
    _, _, _, _, slug, word = SPOILT[i]
    found = [f for verdict in verdicts.values() for f in of_job(verdict, f"spoilt{i}")]
    assert any(f.slug == slug and word in f.message for f in found), found


@pytest.mark.judge(*ALL)
def test_every_file_of_the_targets_is_read_by_one_of_them(project):
    patterns = [pattern for name in ALL for pattern in judge(name).READS]
    files = fsdp.render(project) | launchers.render(project)
    assert [path for path in files if not any(fnmatch(path, pattern) for pattern in patterns)] == []


def test_files_that_neither_accelerate_nor_torchtitan_reads_are_named(tmp_path, project):
    """Neither has a pipeline for this model, so that nobody judges its launch script; TorchTitan reads no job.env."""
    spec = project.jobs["whole"].spec
    shapes = {"orphan": {"model": catalog.model("mpt-30b"), "pipeline": 2, "sequence": 2048, "global_batch": 256}, "staged": SHAPES["staged"], "whole": {}}
    jobs = {name: plan_job(replace(spec, name=name, **changes))[0] for name, changes in shapes.items()}
    several = replace(project, jobs=jobs, placements={name: replace(project.placements["whole"], job=name) for name in jobs})
    found = unread(written(tmp_path / "out", several))
    assert [path for path in found if not for_people(path)] == ["training/orphan/job.env", "training/orphan/launch.sh", "training/staged/job.env"]


def test_groups_of_experts_reach_the_script_where_neither_has_a_file(project):
    """No accelerate.yaml and no torchtitan.toml: what the plan counted must stand in job.env, or it trains another job."""
    changes = {"model": catalog.model("mixtral-8x7b"), "expert": 8, "expert_capacity": 1.25, "sequence": 4096}
    job, findings = plan_job(replace(project.jobs["whole"].spec, name="experts", **changes))
    assert job, findings
    files = fsdp.render(replace(project, jobs={"experts": job}, placements={"experts": replace(project.placements["whole"], job="experts")}))
    assert {path.rpartition("/")[2] for path in files} == {"job.env", "launch.sh"}
    assert {"TRAIN_EXPERT=8", "TRAIN_EXPERT_CAPACITY=1.25"} <= set(files["training/experts/job.env"].splitlines())


@pytest.mark.judge(*ALL)
@pytest.mark.parametrize("name", ALL)
def test_a_missing_file_is_noticed(tmp_path, project, name):
    one = replace(project, jobs={"whole": project.jobs["whole"]}, placements={"whole": project.placements["whole"]})
    tree = written(tmp_path / "out", one)
    (tree / judge(name).READS[0].replace("*", "whole")).unlink()
    assert [f.slug for f in judge(name).verify(tree, one).findings] == ["training-file-missing"]


@pytest.mark.parametrize("name", ALL)
def test_a_missing_program_says_how_to_get_it(tmp_path, monkeypatch, project, name):
    monkeypatch.setattr(programs, "find", lambda judge: programs.Missing(judge, name, "run tests/real/install.sh"))
    verdict = judge(name).verify(written(tmp_path / "out", project), project)
    assert (verdict.status, [f.slug for f in verdict.findings]) == ("missing", [f"{name}-not-judged"])
