"""DeepSpeed's files: what the plan says in DeepSpeed's words, and hosts in the order of the placement."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from iacgen import catalog
from iacgen.pipeline import run
from iacgen.placement.model import digest
from iacgen.targets import deepspeed
from iacgen.training import plan
from iacgen.verify import programs
from iacgen.verify.process import run as run_program

ROOT = Path(__file__).parents[2]
PROBE = ROOT / "iacgen/verify/drivers/deepspeed_probe.py"


@pytest.fixture(scope="module")
def superpod():
    return run((ROOT / "blueprints/superpod-h100.yaml").read_text(), "superpod").project


@pytest.fixture(scope="module")
def spec(superpod):
    return superpod.jobs["finetune"].spec


def config_of(spec):
    job, findings = plan(spec)
    assert job, findings
    return deepspeed.config(job), job


def test_only_deepspeed_jobs_get_files(superpod):
    assert {path.split("/")[1] for path in deepspeed.render(superpod)} == {"finetune"}


def test_the_hostfile_keeps_the_order_of_the_placement(superpod):
    placement = superpod.placements["finetune"]
    turned = replace(placement, hosts=tuple(reversed(placement.hosts)))
    tree = deepspeed.render(replace(superpod, placements={**superpod.placements, "finetune": turned}))
    lines = tree["training/finetune/hostfile"].splitlines()
    assert digest(line.split()[0] for line in lines) == turned.digest
    assert {line.split()[1] for line in lines} == {"slots=8"}
    assert f"--master_addr {turned.hosts[0]} " in tree["training/finetune/launch.sh"]


@pytest.mark.parametrize(
    ("changes", "batches"),
    [
        ({}, (256, 1, 1)),
        ({"global_batch": 2048, "micro_batch": 2}, (2048, 2, 4)),
        # Tensor and context parallelism shrink the number of copies, not the number of GPUs.
        ({"tensor": 2, "global_batch": 512}, (512, 1, 4)),
        ({"context": 4, "global_batch": 512}, (512, 1, 8)),
    ],
)
def test_all_three_batch_numbers_multiply_out(spec, changes, batches):
    config, job = config_of(replace(spec, **changes))
    written = tuple(config[key] for key in ("train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps"))
    assert written == batches
    assert written[0] == written[1] * written[2] * job.data_parallel


def test_parallel_sizes_are_written_where_deepspeed_looks_for_them(spec):
    config, _ = config_of(replace(spec, tensor=2, global_batch=512))
    assert config["tensor_parallel"] == {"autotp_size": 2}
    config, _ = config_of(replace(spec, context=4, global_batch=512))
    assert (config["data_parallel_size"], config["sequence_parallel_size"]) == (64, 4)
    plain, _ = config_of(spec)
    assert not {"tensor_parallel", "sequence_parallel_size", "data_parallel_size", "pipeline"} & set(plain)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, {}),
        ({"context": 4, "global_batch": 512}, {"TRAIN_CONTEXT": 4}),
        ({"model": catalog.model("mixtral-8x7b"), "expert": 8, "zero": 2}, {"TRAIN_EXPERT": 8}),
        ({"model": catalog.model("mixtral-8x7b"), "expert": 4, "zero": 2, "expert_capacity": 1.5}, {"TRAIN_EXPERT": 4, "TRAIN_EXPERT_CAPACITY": "1.5"}),
        ({"pipeline": 4, "zero": 1, "global_batch": 512, "model": catalog.model("llama-3-8b")}, {"TRAIN_PIPELINE": 4, "TRAIN_PIPELINE_LAYERS": "8,8,8,8"}),
        ({"pipeline": 3, "zero": 1, "nodes": 3, "global_batch": 384, "model": catalog.model("llama-3-8b")}, {"TRAIN_PIPELINE": 3, "TRAIN_PIPELINE_LAYERS": "11,11,10"}),
        ({"tensor": 2, "pipeline": 4, "zero": 1, "global_batch": 512, "model": catalog.model("llama-3-8b")}, {"TRAIN_PIPELINE": 4, "TRAIN_PIPELINE_LAYERS": "8,8,8,8", "TRAIN_TENSOR": 2}),
    ],
)
def test_what_deepspeed_reads_from_no_file_is_told_to_the_script(superpod, spec, changes, told):
    _, job = config_of(replace(spec, **changes))
    words = {name: value for name, value, _ in deepspeed.words(job, superpod.design)}
    assert {name: words[name] for name in words.keys() & {"TRAIN_CONTEXT", "TRAIN_PIPELINE", "TRAIN_PIPELINE_LAYERS", "TRAIN_TENSOR", "TRAIN_EXPERT", "TRAIN_EXPERT_CAPACITY"}} == told


@pytest.mark.parametrize(("recompute", "interval"), [("full", {"activation_checkpoint_interval": 1}), ("selective", None)])
def test_the_pipeline_engine_recomputes_each_layer_where_that_is_planned_and_sends_when_it_has_computed(spec, recompute, interval):
    config, _ = config_of(replace(spec, pipeline=4, zero=1, global_batch=512, recompute=recompute, model=catalog.model("llama-3-8b")))
    assert config.get("pipeline") == interval
    assert config["zero_optimization"]["overlap_comm"] is False


@pytest.mark.parametrize(
    ("changes", "zero"),
    [
        ({"secondary_group": 8}, {"zero_hpz_partition_size": 8}),
        ({"offload_optimizer": "cpu"}, {"offload_optimizer": {"device": "cpu", "pin_memory": True}}),
        ({"offload_optimizer": "nvme", "offload_weights": "nvme", "offload_path": "/raid"}, {name: {"device": "nvme", "pin_memory": True, "nvme_path": "/raid"} for name in ("offload_optimizer", "offload_param")}),
    ],
)
def test_what_leaves_the_gpu_and_what_is_kept_twice(spec, changes, zero):
    config, _ = config_of(replace(spec, **changes))
    found = config["zero_optimization"]
    assert {key: found.get(key) for key in ("zero_hpz_partition_size", "offload_optimizer", "offload_param") if key in found} == zero


def test_the_swapper_s_buffer_holds_the_part_of_the_largest_weight(spec):
    small, _ = config_of(replace(spec, nodes=1, global_batch=8, offload_weights="nvme", offload_optimizer="nvme"))
    assert small["zero_optimization"]["offload_param"]["buffer_size"] * 8 >= 128256 * 8192  # the embedding of Llama 3 70B


@pytest.mark.parametrize(
    ("changes", "release", "missing"),
    [
        ({"tensor": 2, "global_batch": 512}, "0.16.3", "tensor_parallel"),
        ({"context": 4, "global_batch": 512}, "0.14.5", "sequence_parallel_size"),
        ({"context": 4, "global_batch": 512}, "0.14.5", "data_parallel_size"),
    ],
)
def test_older_releases_get_no_key_that_they_do_not_read(spec, changes, release, missing):
    job, _ = plan(replace(spec, **changes))
    assert missing in deepspeed.config(job)
    assert missing not in deepspeed.config(job, deepspeed.version(release))


@pytest.mark.parametrize("gradients", ["bf16", "fp32"])
def test_gradients_are_summed_and_sent_in_one_type(spec, gradients):
    config, _ = config_of(replace(spec, gradients=gradients))
    assert (config["communication_data_type"], config["data_types"]) == (gradients, {"grad_accum_dtype": gradients})


def test_nothing_is_left_for_deepspeed_to_choose(superpod):
    assert '"auto"' not in deepspeed.render(superpod)["training/finetune/ds_config.json"]


def test_more_nodes_than_pdsh_reaches_are_left_to_slurm(superpod):
    placement = superpod.placements["finetune"]
    many = replace(placement, hosts=tuple(f"gpu{i:04}" for i in range(1, 1026)))
    design = superpod.design

    class Wide:
        """A design that knows every host's pool."""

        storage, software = design.storage, design.software

        def pool_of(self, host):
            return design.pools["gpu"]

    script = deepspeed.render(replace(superpod, design=Wide(), placements={**superpod.placements, "finetune": many}))["training/finetune/launch.sh"]
    assert "pdsh" not in script
    assert "start the job with slurm/finetune.sbatch" in script


@pytest.mark.judge("deepspeed")
def test_deepspeed_takes_every_kind_of_job_from_8_to_16384_ranks(spec, tmp_path):
    small = replace(spec, model=catalog.model("llama-3-8b"))
    specs = [replace(small, nodes=nodes, global_batch=nodes * 8, zero=zero, gradients=g) for nodes in (1, 2, 16, 128, 2048) for zero in (1, 2, 3) for g in ("bf16", "fp32")]
    specs = [each for each in specs if plan(each)[0]]
    assert {each.world for each in specs} == {8, 16, 128, 1024, 16384} and {each.zero for each in specs} == {1, 2, 3}
    specs += [
        replace(small, nodes=2, secondary_group=8, global_batch=64),
        replace(small, nodes=2048, secondary_group=64, offload_optimizer="cpu", global_batch=16384),
        replace(small, nodes=1, offload_optimizer="nvme", offload_weights="nvme", global_batch=64),
        replace(small, nodes=4, tensor=4, zero=2, global_batch=64),
        replace(small, nodes=4, context=4, global_batch=64),
        replace(small, nodes=8, pipeline=4, zero=1, global_batch=64, recompute="full"),
        replace(small, nodes=8, pipeline=4, zero=1, global_batch=64, recompute="selective"),
        replace(small, nodes=8, zero=0, model=small.model.model_copy(update={"layers": 4}), gradients="bf16", global_batch=64),
    ]
    (tmp_path / "hostfile").write_text("gpu0001 slots=8\n")
    questions = []
    for i, each in enumerate(specs):
        config, job = config_of(each)
        (tmp_path / f"{i}.json").write_text(json.dumps(config))
        questions.append({"config": str(tmp_path / f"{i}.json"), "hostfile": str(tmp_path / "hostfile"), "world": job.world, "data_parallel": job.data_parallel, "context": each.context})
    answer = run_program([programs.find("deepspeed").path, "-I", PROBE, json.dumps(questions)], env={"DS_ACCELERATOR": "cpu"}, timeout=300)
    assert answer.ok, answer.err
    said = json.loads(answer.out.splitlines()[-1].removeprefix("PROBE "))["jobs"]
    for each, read in zip(specs, said, strict=True):
        assert (read["refused"], read["unread"], read["warnings"]) == (None, [], []), each
        assert read["values"]["train_batch_size"] == each.global_batch
