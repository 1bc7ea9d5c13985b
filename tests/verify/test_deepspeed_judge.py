"""The DeepSpeed judge: DeepSpeed reads our files, and the judge says no to each kind of spoilt tree."""

import re
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

import pytest

from iacgen import catalog
from iacgen.output import apply, plan
from iacgen.pipeline import run
from iacgen.targets import deepspeed as target
from iacgen.training import plan as plan_job
from iacgen.verify import deepspeed
from iacgen.verify.deepspeed.rules import of_config
from iacgen.verify.deepspeed.start import launch, words
from iacgen.verify.launch import of_words
from iacgen.verify.script import differences

BLUEPRINTS = Path(__file__).parents[2] / "blueprints"


@pytest.fixture(scope="module")
def projects():
    return {name: run((BLUEPRINTS / f"{name}.yaml").read_text(), name).project for name in ("lab", "superpod-h100", "aws-p5")}


def written(tmp_path, project):
    apply(plan(target.render(project), tmp_path / "out"), tmp_path / "out")
    return tmp_path / "out"


@pytest.mark.judge("deepspeed")
@pytest.mark.parametrize("name", ["lab", "superpod-h100", "aws-p5"])
def test_deepspeed_reads_what_we_write(tmp_path, projects, name):
    verdict = deepspeed.verify(written(tmp_path, projects[name]), projects[name])
    assert (verdict.status, verdict.findings) == ("passed", ())
    assert verdict.version == projects[name].design.software.deepspeed
    assert verdict.proves


# What to spoil, how, the finding that must come, and a word of its message. Most of these DeepSpeed itself lets pass.
SPOILT = [
    ("ds_config.json", '"train_batch_size": 128', '"train_batch_size": 129', "deepspeed-refused", "batch"),
    ("ds_config.json", '"train_batch_size"', '"trian_batch_size"', "unread-deepspeed-key", "trian_batch_size"),
    ("ds_config.json", '"stage": 3', '"stage": 4', "deepspeed-refused", "stage"),
    ("ds_config.json", '"stage": 3', '"stage": 2', "deepspeed-not-of-plan", "zero_stage"),
    ("ds_config.json", '"stage": 3', '"stage": 3, "stage": 3', "deepspeed-refused", "Duplicate"),
    ("ds_config.json", '"bf16": {', '"elasticity": {"enabled": true},\n  "bf16": {', "deepspeed-refused", "elasticity"),
    ("ds_config.json", '"bf16": {', '"bfloat17": {', "unread-deepspeed-key", "bfloat17"),
    ("ds_config.json", '"partition_activations"', '"partition_activation"', "unread-deepspeed-key", "activation_checkpointing.partition_activation"),
    ("ds_config.json", '"gradient_clipping": 1.0', '"gradient_clipping": -1.0', "idle-deepspeed-value", "gradient_clipping"),
    ("ds_config.json", '"steps_per_print": 10', '"optimizer": {"type": "Adaam"}', "idle-deepspeed-value", "Adaam"),
    ("ds_config.json", '"overlap_comm": true', '"overlap_com": true', "deepspeed-refused", "overlap_com"),
    ("ds_config.json", '"stage3_max_live_parameters": 1', '"stage3_max_live_parameters": 2', "deepspeed-not-of-plan", "max_live_parameters"),
    ("ds_config.json", '"grad_accum_dtype": "bf16"', '"grad_accum_dtype": "fp32"', "deepspeed-not-of-plan", "grad_accum_dtype"),
    ("ds_config.json", '"steps_per_print": 10', '"steps_per_print": 10 # often', "deepspeed-refused", "JSON"),
    ("ds_config.json", '"stage": 3', '"zero_hpz_partition_size": 7, "stage": 3', "idle-deepspeed-value", "does not divide"),
    ("ds_config.json", '"stage": 3', '"zero_hpz_partition_size": 8, "stage": 3', "deepspeed-not-of-plan", "zero_hpz_partition_size is 8"),
    ("ds_config.json", '"stage": 3', '"zero_hpz_partition_size": 8, "stage": 2', "idle-deepspeed-value", "below stage 3"),
    ("ds_config.json", '"stage": 3', '"offload_param": {"device": "cpu"}, "stage": 2', "idle-deepspeed-value", "offload_param does nothing"),
    ("ds_config.json", '"stage": 3', '"offload_param": {"device": "nvme"}, "stage": 3', "idle-deepspeed-value", "no nvme_path"),
    ("ds_config.json", '"stage": 3', '"offload_optimizer": {"device": "nvme", "nvme_path": "/x"}, "stage": 2', "idle-deepspeed-value", "offload_optimizer to nvme"),
    ("ds_config.json", '"stage": 3', '"offload_optimizer": {"device": "cpu"}, "stage": 3', "deepspeed-not-of-plan", "offload_optimizer"),
    ("ds_config.json", '"stage": 3', '"offload_optimizer": {"device": "gpu"}, "stage": 3', "deepspeed-refused", "device"),
    ("ds_config.json", '"steps_per_print": 10', '"fp32_allreduce": true', "unread-deepspeed-key", "fp32_allreduce"),
    ("ds_config.json", '"steps_per_print": 10', '"monitor_config": {"enabled": true}', "unread-deepspeed-key", "monitor_config"),
    ("ds_config.json", '"steps_per_print": 10', '"pipeline": {"stages": 4}', "idle-deepspeed-value", "pipeline.stages"),
    ("ds_config.json", '"steps_per_print": 10', '"checkpoint": {"tag_validaton": "Warn"}', "unread-deepspeed-key", "checkpoint.tag_validaton"),
    ("ds_config.json", '"steps_per_print": 10', '"scheduler": {"type": "Cosin"}', "idle-deepspeed-value", "Cosin"),
    ("hostfile", "gpu0001 slots=8\ngpu0002 slots=8", "gpu0002 slots=8\ngpu0001 slots=8", "hostfile-not-of-placement", "host 1"),
    ("hostfile", "gpu0002 slots=8", "gpu0001 slots=8", "deepspeed-refused", "multiple entries"),
    ("hostfile", "gpu0002 slots=8", "gpu0002 slots=0", "hostfile-not-of-placement", "slots=0"),
    ("hostfile", "gpu0002 slots=8", "gpu0002 slots=8abc", "hostfile-not-of-placement", "8abc"),
    ("hostfile", "gpu0002 slots=8", "gpu0002:8", "deepspeed-refused", "bad entry"),
    ("hostfile", "gpu0002 slots=8\n", "", "hostfile-not-of-placement", "1 hosts"),
    ("launch.sh", "SLURM_NTASKS == 16", "SLURM_NTASKS == 8", "launch-not-of-plan", "16"),
    ("launch.sh", "--master_addr gpu0001", "--master_addr gpu0002", "launch-not-of-plan", "gpu0001"),
    ("launch.sh", "source_nccl() {", "source_nccl() (", "launch-not-of-plan", "syntax"),
    ("job.env", "TRAIN_RECOMPUTE=full", "TRAIN_RECOMPUTE=none", "launch-not-of-plan", "TRAIN_RECOMPUTE"),
    ("job.env", "TRAIN_MODEL=llama-3-8b", "TRAIN_MODEL=$(id)", "launch-not-of-plan", "one word"),
    ("job.env", "TRAIN_RECOMPUTE=full", "TRAIN_RECOMPUTE=full\nTRAIN_RECOMPUTE=full", "launch-not-of-plan", "a second time"),
    ("job.env", "TRAIN_RECOMPUTE=full", "TRAIN_RECOMPUTE=full\nLD_PRELOAD=/tmp/x.so", "launch-not-of-plan", "LD_PRELOAD"),
    ("launch.sh", "fi\n\nsource_nccl\n", "fi\n\n", "launch-not-of-plan", "`source_nccl`: without nccl's file"),
    ("launch.sh", '/nccl/gpu/nccl.sh; do', '/nccl/cpu/nccl.sh; do', "launch-not-of-plan", "/nccl/cpu/"),
    ("launch.sh", '. "$here/job.env"', "true", "launch-not-of-plan", "job.env"),
    ("launch.sh", '"$here/ds_config.json"', '"$here/ds.json"', "launch-not-of-plan", "ds.json"),
    ("launch.sh", "source_nccl\nset -a", "source_nccl\nunset NCCL_IB_HCA\nset -a", "launch-not-of-plan", "`unset nccl_ib_hca` is no planned step"),
    ("launch.sh", 'die "no $here/$file"', 'die "no $(touch /tmp/x)"', "launch-not-of-plan", "touch"),
    ("launch.sh", "#!/bin/bash\n", "#!/bin/sh\n", "launch-not-of-plan", "/bin/sh"),
    ("launch.sh", '--master_port "${MASTER_PORT:-29500}" "$here', '--master_port "${MASTER_PORT:-29500}" --include gpu0001 "$here', "launch-not-of-plan", "--include"),
]  # fmt: skip


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory, projects):
    """One tree with a job for each way to spoil it, and one that is left alone: DeepSpeed starts once for all."""
    lab = projects["lab"]
    job, placement = lab.jobs["pretrain"], lab.placements["pretrain"]
    names = ["sound", *(f"spoilt{i}" for i in range(len(SPOILT)))]
    jobs = {name: replace(job, spec=replace(job.spec, name=name)) for name in names}
    several = replace(lab, jobs=jobs, placements={name: replace(placement, job=name) for name in names})
    tree = written(tmp_path_factory.mktemp("spoilt"), several)
    for i, (file, old, new, _, _) in enumerate(SPOILT):
        path = tree / "training" / f"spoilt{i}" / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
    return deepspeed.verify(tree, several)


def of_job(verdict, name):
    return [f for f in verdict.findings if f"training/{name}/" in f.message]


@pytest.mark.judge("deepspeed")
@pytest.mark.parametrize("i", range(len(SPOILT)), ids=[f"{file}-{new[:40]}" for file, _, new, _, _ in SPOILT])
def test_a_spoilt_job_fails(spoilt, i):
    _, _, _, slug, word = SPOILT[i]
    assert spoilt.status == "failed"
    found = of_job(spoilt, f"spoilt{i}")
    assert any(f.slug == slug and word.lower() in f.message.lower() for f in found), found


@pytest.mark.judge("deepspeed")
def test_the_sound_job_beside_them_passes(spoilt):
    assert of_job(spoilt, "sound") == []


EXPERTS = {"model": catalog.model("mixtral-8x7b").model_copy(update={"layers": 8}), "expert": 8, "expert_capacity": 1.25, "zero": 2, "recompute": "full"}
# A job that cuts a copy of the model, what to spoil, and a word of the finding that must come; without one the job is sound.
CUT = [
    ({"context": 2}, "", "", "", None),
    ({"context": 2}, "ds_config.json", '"data_parallel_size": 8,', "", "mesh is none"),
    ({"context": 2}, "ds_config.json", '"sequence_parallel_size": 2', '"sequence_parallel_size": 4', "mesh is [8, 4]"),
    ({"context": 2}, "job.env", "TRAIN_CONTEXT=2", "TRAIN_CONTEXT=4", "TRAIN_CONTEXT"),
    ({"pipeline": 2, "zero": 1}, "", "", "", None),
    ({"pipeline": 2, "zero": 1}, "ds_config.json", '"activation_checkpoint_interval": 1', '"activation_checkpoint_interval": 0', "activation_checkpoint_interval is 0"),
    ({"pipeline": 2, "zero": 1}, "ds_config.json", '"overlap_comm": false', '"overlap_comm": true', "overlap_comm is true"),
    ({"pipeline": 2, "zero": 1}, "job.env", "TRAIN_PIPELINE=2", "TRAIN_PIPELINE=4", "TRAIN_PIPELINE"),
    ({"pipeline": 2, "zero": 1}, "job.env", "TRAIN_PIPELINE_LAYERS=16,16", "TRAIN_PIPELINE_LAYERS=17,15", "TRAIN_PIPELINE_LAYERS"),
    ({"tensor": 2}, "", "", "", None),
    ({"tensor": 2, "pipeline": 2, "zero": 1}, "", "", "", None),
    ({"tensor": 2}, "job.env", "TRAIN_TENSOR=2", "TRAIN_TENSOR=8", "TRAIN_TENSOR"),
    (EXPERTS, "", "", "", None),
    (EXPERTS, "job.env", "TRAIN_EXPERT=8", "TRAIN_EXPERT=4", "TRAIN_EXPERT"),
    (EXPERTS, "job.env", "TRAIN_EXPERT_CAPACITY=1.25", "", "TRAIN_EXPERT_CAPACITY"),
    ({"secondary_group": 8}, "", "", "", None),
    ({"secondary_group": 8}, "ds_config.json", '"zero_hpz_partition_size": 8', '"zero_hpz_partition_size": 4', "zero_hpz_partition_size is 4"),
    ({"offload_optimizer": "cpu", "zero": 2}, "", "", "", None),
    ({"offload_optimizer": "nvme", "offload_weights": "cpu"}, "", "", "", None),
    ({"offload_optimizer": "nvme", "offload_weights": "nvme"}, "ds_config.json", '"nvme_path": "/local"', '"nvme_path": "/tmp"', "/tmp"),
    ({"offload_optimizer": "cpu"}, "job.env", "TRAIN_OPTIMIZER=DeepSpeedCPUAdam", "", "TRAIN_OPTIMIZER"),
    ({"tensor": 2}, "ds_config.json", '"autotp_size": 2', '"autotp_size": 4', "autotp_size is 4"),
]  # fmt: skip


@pytest.mark.judge("deepspeed")
def test_a_job_that_cuts_a_copy_of_the_model(tmp_path, projects):
    lab = projects["lab"]
    job, placement = lab.jobs["pretrain"], lab.placements["pretrain"]
    jobs = {f"cut{i}": plan_job(replace(job.spec, name=f"cut{i}", **changes))[0] for i, (changes, *_) in enumerate(CUT)}
    several = replace(lab, jobs=jobs, placements={name: replace(placement, job=name) for name in jobs})
    tree = written(tmp_path, several)
    for i, (_, file, old, new, word) in enumerate(CUT):
        if word:
            path = tree / "training" / f"cut{i}" / file
            assert old in path.read_text()
            path.write_text(path.read_text().replace(old, new))
    verdict = deepspeed.verify(tree, several)
    for i, (_, _, _, _, word) in enumerate(CUT):
        found = [f.message.lower() for f in of_job(verdict, f"cut{i}")]
        assert any(word.lower() in message for message in found) if word else not found, (i, found)


@pytest.mark.judge("deepspeed")
@pytest.mark.parametrize("file", ["ds_config.json", "hostfile", "job.env", "launch.sh"])
def test_a_missing_file_fails(tmp_path, projects, file):
    tree = written(tmp_path, projects["lab"])
    (tree / "training/pretrain" / file).unlink()
    verdict = deepspeed.verify(tree, projects["lab"])
    assert [f.slug for f in verdict.findings] == ["training-file-missing"]


@pytest.mark.judge("deepspeed")
def test_another_version_than_the_declared_one_proves_nothing(tmp_path, projects):
    lab = projects["lab"]
    older = replace(lab, design=replace(lab.design, software=replace(lab.design.software, deepspeed="0.18.1")))
    verdict = deepspeed.verify(written(tmp_path, lab), older)
    assert (verdict.status, verdict.proves) == ("other-version", False)
    assert "0.18.1" in verdict.findings[0].message


def test_without_deepspeed_the_verdict_says_how_to_get_it(tmp_path, projects, monkeypatch):
    monkeypatch.setenv("IACGEN_TRAINING_PYTHON", "/bin/false")
    verdict = deepspeed.verify(written(tmp_path, projects["lab"]), projects["lab"])
    assert verdict.status == "missing"
    assert "tests/real/install.sh" in verdict.findings[0].message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("TRAIN_SAVE_INTERVAL={save_steps}", "TRAIN_SAVE_INTERVAL={save_steps}0"),
        ("TRAIN_SAVE_INTERVAL={save_steps}\n", ""),
        ("TRAIN_CHECKPOINTS=/scratch/checkpoints/finetune", "TRAIN_CHECKPOINTS=/tmp"),
    ],
)
def test_the_training_script_is_told_what_was_planned(projects, old, new):
    superpod = projects["superpod-h100"]
    text, planned = target.render(superpod)["training/finetune/job.env"], words(superpod.jobs["finetune"], superpod.design)
    assert list(of_words("job.env", text, planned)) == []
    (steps,) = re.findall(r"^TRAIN_SAVE_INTERVAL=(\d+)$", text, re.MULTILINE)
    old, new = old.replace("{save_steps}", steps), new.replace("{save_steps}", steps)
    assert old in text
    (found,) = of_words("job.env", text.replace(old, new), planned)
    assert (found.slug, old.partition("=")[0] in found.message) == ("launch-not-of-plan", True)


def test_beyond_deepspeed_s_own_reach_the_script_offers_no_launcher(projects):
    """More hosts than its launcher fans out to: the script only says so."""
    superpod = projects["superpod-h100"]
    job, placement = superpod.jobs["finetune"], superpod.placements["finetune"]
    many = replace(placement, hosts=placement.hosts * 40)
    text = target.render(superpod)["training/finetune/launch.sh"]
    assert list(differences(text, launch(job, placement, superpod.design))) == []
    assert any("exec deepspeed" in said for said in differences(text, launch(job, many, superpod.design)))


def test_a_tree_without_a_job_is_not_applicable(tmp_path, projects):
    assert not deepspeed.applies(tmp_path)
    assert deepspeed.verify(tmp_path, replace(projects["lab"], jobs={}, placements={})).status == "not-applicable"


def test_it_reads_what_the_target_writes(projects):
    for project in projects.values():
        assert all(any(fnmatch(path, pattern) for pattern in deepspeed.READS) for path in target.render(project))


@pytest.mark.parametrize(
    ("config", "word"),
    [
        ({"scheduler": {"type": "Cosin"}}, "Cosin"),
        ({"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "nvme"}}}, "nvme_path"),
        ({"zero_optimization": {"stage": 2, "offload_param": {"device": "cpu"}}}, "stage 3"),
        ({"zero_optimization": {"stage": 3, "zero_hpz_partition_size": 7}}, "7 does not divide 16"),
        ({"pipeline": {"stages": 4}}, "pipeline.stages"),
    ],
)
def test_values_that_do_nothing_are_named(config, word):
    (found,) = of_config("ds_config.json", config, 16, ["adam"], ["WarmupLR"])
    assert word in found.message


@pytest.mark.parametrize(
    "config",
    [{}, {"optimizer": {"type": "AdamW"}, "scheduler": {"type": "WarmupLR"}, "zero_optimization": {"stage": 3, "zero_hpz_partition_size": 8, "offload_param": {"device": "cpu"}}}],
)
def test_values_that_work_are_let_through(config):
    assert list(of_config("ds_config.json", config, 16, ["adamw"], ["WarmupLR"])) == []
