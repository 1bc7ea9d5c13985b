"""The Megatron judge: megatron-core takes our arguments, and the judge says no to each kind of spoilt tree."""

from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

import pytest

from iacgen import catalog
from iacgen.output import apply, plan
from iacgen.pipeline import run
from iacgen.targets import megatron as target
from iacgen.training import plan as plan_job
from iacgen.training.groups import grid
from iacgen.verify import megatron
from iacgen.verify.launch import of_words
from iacgen.verify.megatron.rules import of_arguments
from iacgen.verify.megatron.start import environment

BLUEPRINTS = Path(__file__).parents[2] / "blueprints"
ARGUMENTS = "training/pretrain/megatron.args"


@pytest.fixture(scope="module")
def project():
    return run((BLUEPRINTS / "superpod-h100.yaml").read_text(), "superpod").project


def written(tmp_path, project):
    apply(plan(target.render(project), tmp_path / "out"), tmp_path / "out")
    return tmp_path / "out"


@pytest.mark.judge("megatron")
def test_megatron_core_takes_what_we_write(tmp_path, project):
    verdict = megatron.verify(written(tmp_path, project), project)
    assert (verdict.status, verdict.findings) == ("passed", ())
    assert verdict.version == project.design.software.megatron
    assert verdict.proves


# What to spoil, how, the finding that must come, and a word of its message.
SPOILT = [
    ("megatron.args", "--num-layers=126", "--num-layers=127", "megatron-refused", "divisible"),
    ("megatron.args", "--num-query-groups=8", "--num-query-groups=6", "megatron-refused", "num_query_groups"),
    ("megatron.args", "--num-attention-heads=128", "--num-attention-heads=124", "megatron-refused", "tensor"),
    ("megatron.args", "--tensor-model-parallel-size=8", "--tensor-model-parallel-size=4", "megatron-not-of-plan", "14"),
    ("megatron.args", "--context-parallel-size=2", "--context-parallel-size=1", "megatron-not-of-plan", "14 copies"),
    ("megatron.args", "--context-parallel-size=2\n", "", "megatron-not-of-plan", "--context-parallel-size is missing"),
    ("megatron.args", "--pipeline-model-parallel-size=9", "--pipeline-model-parallel-size=5", "megatron-refused", "divisible"),
    ("megatron.args", "--num-layers=126", "--num-layers=63", "megatron-not-of-plan", "memory table"),
    ("megatron.args", "--global-batch-size=252", "--global-batch-size=250", "megatron-refused", "divisible"),
    ("megatron.args", "--global-batch-size=252", "--global-batch-size=504", "megatron-not-of-plan", "72 micro batches"),
    ("megatron.args", "--seq-length=8192", "--seq-lenght=8192", "unplanned-megatron-argument", "--seq-lenght"),
    ("megatron.args", "--use-distributed-optimizer\n", "", "idle-megatron-argument", "--overlap-param-gather without"),
    ("megatron.args", "--bf16", "--bf16\n--bf16", "idle-megatron-argument", "twice"),
    ("megatron.args", "--bf16", "--bf16\n--recompute-granularity=partly", "megatron-refused", "partly"),
    ("megatron.args", "--attention-backend=flash", "--attention-backend=flash4", "megatron-refused", "flash4"),
    ("megatron.args", "--save=/scratch", "--save=/home", "megatron-not-of-plan", "/scratch"),
    ("megatron.env", "CUDA_DEVICE_MAX_CONNECTIONS=1", "CUDA_DEVICE_MAX_CONNECTIONS=8", "launch-not-of-plan", "8"),
    ("megatron.env", "CUDA_DEVICE_MAX_CONNECTIONS=1", "export CUDA_DEVICE_MAX_CONNECTIONS=1", "launch-not-of-plan", "one word"),
    ("launch.sh", "SLURM_NTASKS == 1008", "SLURM_NTASKS == 1016", "launch-not-of-plan", "1008"),
    ("launch.sh", "set -a\n", "set -a (\n", "launch-not-of-plan", "syntax"),
    ("launch.sh", "source_nccl\nset -a\n", "set -a\n", "launch-not-of-plan", "`source_nccl`: without NCCL's file"),
    ("launch.sh", '. "$here/megatron.env"', ":", "launch-not-of-plan", "without megatron.env"),
    ("launch.sh", 'mapfile -t arguments <"$here/megatron.args"', "arguments=()", "launch-not-of-plan", "`arguments=()` is no planned step"),
    ("launch.sh", 'mapfile -t arguments <"$here/megatron.args"', 'mapfile -t arguments <"$here/other.args"', "launch-not-of-plan", "other.args"),
    ("launch.sh", '"${arguments[@]}" "$@"', '"$@"', "launch-not-of-plan", "every argument"),
    ("launch.sh", "LOCAL_WORLD_SIZE=8", "LOCAL_WORLD_SIZE=4", "launch-not-of-plan", "LOCAL_WORLD_SIZE=8"),
    ("megatron.args", "--save-interval=", "--save-interval=9", "megatron-not-of-plan", "--save-interval is 9"),
    ("megatron.args", "--exit-signal-handler\n", "", "megatron-not-of-plan", "--exit-signal-handler is missing"),
    ("megatron.args", "--num-workers=2", "--num-workers=64", "megatron-not-of-plan", "--num-workers is 64"),
    ("launch.sh", '. "$here/data.env"', ":", "launch-not-of-plan", "without data.env"),
    ("megatron.env", "CUDA_DEVICE_MAX_CONNECTIONS=1", "CUDA_DEVICE_MAX_CONNECTIONS=1\nNCCL_IB_DISABLE=1", "launch-not-of-plan", "NCCL_IB_DISABLE"),
]


def copies(project, names):
    """The project with its Megatron job once under each name."""
    job, placement = project.jobs["pretrain"], project.placements["pretrain"]
    jobs = {name: replace(job, spec=replace(job.spec, name=name)) for name in names}
    return replace(project, jobs=jobs, placements={name: replace(placement, job=name) for name in names})


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory, project):
    """One tree with a job for each way to spoil it, and one that is left alone: megatron-core starts once for all."""
    several = copies(project, ["sound", *(f"spoilt{i}" for i in range(len(SPOILT)))])
    tree = written(tmp_path_factory.mktemp("spoilt"), several)
    for i, (file, old, new, _, _) in enumerate(SPOILT):
        path = tree / "training" / f"spoilt{i}" / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
    return megatron.verify(tree, several)


def of_job(verdict, name):
    return [f for f in verdict.findings if f"training/{name}/" in f.message]


@pytest.mark.judge("megatron")
@pytest.mark.parametrize("i", range(len(SPOILT)), ids=[f"{file}-{new[:40].strip()}" for file, _, new, _, _ in SPOILT])
def test_a_spoilt_job_fails(spoilt, i):
    _, _, _, slug, word = SPOILT[i]
    assert spoilt.status == "failed"
    found = of_job(spoilt, f"spoilt{i}")
    assert any(f.slug == slug and word in f.message for f in found), found


@pytest.mark.judge("megatron")
def test_the_sound_job_beside_them_passes(spoilt):
    assert of_job(spoilt, "sound") == []


OTHER_SHAPES = {
    "experts-whole": {"model": "mixtral-8x7b", "nodes": 32, "tensor": 2, "pipeline": 4, "virtual": 1, "context": 1, "expert": 8, "global_batch": 256, "sequence": 4096},
    "experts-cut": {"model": "mixtral-8x7b", "nodes": 16, "tensor": 4, "pipeline": 2, "virtual": 2, "context": 1, "expert": 4, "expert_tensor": 2, "global_batch": 128, "sequence": 4096, "expert_capacity": 1.25},
    "latent": {"model": "deepseek-v3", "gpu": "h200", "nodes": 128, "tensor": 1, "sequence_parallel": False, "pipeline": 16, "virtual": 1, "context": 1, "expert": 64, "global_batch": 1024, "sequence": 4096, "first_layers": 3, "last_layers": 2, "recompute": "full"},
    "uneven": {"first_layers": 13, "last_layers": 15, "virtual": 1, "recompute": "full"},
    "fp8": {"fp8": True},
    "learned": {"model": "gpt-3-175b", "nodes": 96, "pipeline": 12, "virtual": 1, "context": 1, "global_batch": 256, "sequence": 2048},
}  # fmt: skip
OTHER_SPOILT = [
    ("experts-whole", "--expert-tensor-parallel-size=1\n", "", "group-not-of-placement", "expert-ep"),
    ("experts-whole", "--expert-model-parallel-size=8", "--expert-model-parallel-size=4", "group-not-of-placement", "expert-ep"),
    ("experts-whole", "--num-experts=8", "--num-experts=16", "megatron-not-of-plan", "--num-experts"),
    ("experts-whole", "--num-experts=8\n", "", "idle-megatron-argument", "without --num-experts"),
    ("experts-cut", "--moe-expert-capacity-factor=1.25", "--moe-expert-capacity-factor=1.0", "megatron-not-of-plan", "--moe-expert-capacity-factor"),
    ("latent", "--moe-layer-freq=([0]*3+[1]*58)", "--moe-layer-freq=__import__('os').getpid()", "megatron-refused", "moe-layer-freq"),
    ("latent", "--multi-latent-attention\n", "", "idle-megatron-argument", "--kv-lora-rank without"),
    *(("latent", f"{line}\n", "", "megatron-not-of-plan", f"{line.partition('=')[0]} is missing") for line in (
        "--qk-layernorm", "--rope-type=rope", "--moe-router-topk-scaling-factor=2.5", "--moe-router-group-topk=4", "--moe-shared-expert-intermediate-size=2048", "--norm-epsilon=1e-06",
    )),
    ("latent", "--no-rope-fusion\n", "", "megatron-refused", "apply_rope_fusion"),
    ("latent", "--moe-router-num-groups=8\n", "", "megatron-refused", "moe_router_num_groups"),
    ("latent", "--moe-router-num-groups=8", "--moe-router-num-groups=16", "megatron-not-of-plan", "--moe-router-num-groups"),
    ("latent", "--moe-router-score-function=sigmoid", "--moe-router-score-function=softmax", "megatron-refused", "sigmoid"),
    ("uneven", "--decoder-first-pipeline-num-layers=13", "--decoder-first-pipeline-num-layers=14", "megatron-refused", "divisible"),
    ("fp8", "--fp8-format=hybrid", "--fp8-format=e4m3", "megatron-not-of-plan", "--fp8-format"),
    ("fp8", "--fp8-format=hybrid\n", "", "idle-megatron-argument", "without --fp8-format"),
    ("learned", "--position-embedding-type=learned_absolute", "--position-embedding-type=rope", "megatron-not-of-plan", "--position-embedding-type"),
]


def shaped(project, changes):
    """The job of another shape, which adds up and fits."""
    entries = {"model": catalog.model, "gpu": catalog.gpu}
    job, findings = plan_job(replace(project.jobs["pretrain"].spec, **{key: entries[key](value) if key in entries else value for key, value in changes.items()}))
    assert job, findings
    return job


@pytest.fixture(scope="module")
def other_shapes(tmp_path_factory, project):
    """A tree with jobs of other shapes, and copies of them each spoilt in one way."""
    jobs = {name: shaped(project, changes) for name, changes in OTHER_SHAPES.items()}
    jobs |= {f"spoilt{i}": jobs[name] for i, (name, *_) in enumerate(OTHER_SPOILT)}
    jobs = {name: replace(job, spec=replace(job.spec, name=name)) for name, job in jobs.items()}
    several = replace(project, jobs=jobs, placements={name: replace(project.placements["pretrain"], job=name) for name in jobs})
    tree = written(tmp_path_factory.mktemp("shapes"), several)
    for i, (_, old, new, _, _) in enumerate(OTHER_SPOILT):
        path = tree / "training" / f"spoilt{i}" / "megatron.args"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
    return megatron.verify(tree, several)


@pytest.mark.judge("megatron")
@pytest.mark.parametrize("name", OTHER_SHAPES)
def test_experts_latent_attention_and_uneven_stages_are_taken(other_shapes, name):
    assert of_job(other_shapes, name) == []


@pytest.mark.judge("megatron")
@pytest.mark.parametrize("i", range(len(OTHER_SPOILT)), ids=[new[:40].strip() or f"no {old.strip()}" for _, old, new, _, _ in OTHER_SPOILT])
def test_a_spoilt_job_of_another_shape_fails(other_shapes, i):
    _, _, _, slug, word = OTHER_SPOILT[i]
    found = of_job(other_shapes, f"spoilt{i}")
    assert any(f.slug == slug and word in f.message for f in found), found


@pytest.mark.judge("megatron")
def test_a_group_other_than_megatron_s_is_named(tmp_path, project):
    """The placement thinks of another order of ranks than Megatron has."""

    class OtherOrder:
        def __init__(self, job):
            self.job = job

        def __getattr__(self, name):
            return getattr(self.job, name)

        @property
        def ranks(self):
            spec = self.job.spec
            return grid("tp-cp-ep-pp-dp", tp=spec.tensor, cp=spec.context, dp=spec.data_parallel, pp=spec.pipeline)

    other = replace(project, jobs={**project.jobs, "pretrain": OtherOrder(project.jobs["pretrain"])})
    verdict = megatron.verify(written(tmp_path, project), other)
    assert [f.slug for f in verdict.findings] == ["group-not-of-placement"]


@pytest.mark.judge("megatron")
def test_a_missing_file_fails(tmp_path, project):
    tree = written(tmp_path, project)
    (tree / "training/pretrain/megatron.env").unlink()
    assert [f.slug for f in megatron.verify(tree, project).findings] == ["training-file-missing"]


@pytest.mark.judge("megatron")
def test_another_version_than_the_declared_one_proves_nothing(tmp_path, project):
    older = replace(project, design=replace(project.design, software=replace(project.design.software, megatron="0.15")))
    verdict = megatron.verify(written(tmp_path, project), older)
    assert (verdict.status, verdict.proves) == ("other-version", False)


@pytest.mark.judge("megatron")
def test_other_jobs_pass_too(tmp_path, project):
    spec = project.jobs["pretrain"].spec
    small = {"model": catalog.model("llama-3-8b"), "tensor": 1, "pipeline": 1, "virtual": 1, "sequence_parallel": False, "global_batch": 1008}
    changes = {
        "full": {"context": 1, "recompute": "full", "gradients": "fp32"},
        "small": {**small, "context": 1, "recompute": "full"},
        "uneven": {"pipeline": 8, "virtual": 1, "nodes": 128, "embedding_as_layer": True, "loss_as_layer": True, "global_batch": 256},
    }
    planned = {name: plan_job(replace(spec, name=name, **change)) for name, change in changes.items()}
    assert all(job for job, _ in planned.values()), planned
    other = copies(project, changes)
    other = replace(other, jobs={name: job for name, (job, _) in planned.items()})
    verdict = megatron.verify(written(tmp_path, other), other)
    assert (verdict.status, verdict.findings) == ("passed", ())


def test_without_megatron_core_the_verdict_says_how_to_get_it(tmp_path, project, monkeypatch):
    monkeypatch.setenv("IACGEN_TRAINING_PYTHON", "/bin/false")
    verdict = megatron.verify(written(tmp_path, project), project)
    assert verdict.status == "missing"
    assert "tests/real/install.sh" in verdict.findings[0].message


def test_a_tree_without_a_job_is_not_applicable(tmp_path, project):
    assert megatron.verify(tmp_path, replace(project, jobs={}, placements={})).status == "not-applicable"


def test_it_reads_what_the_target_writes(project):
    assert all(any(fnmatch(path, pattern) for pattern in megatron.READS) for path in target.render(project))


def test_arguments_of_the_user_are_let_through(project):
    job = project.jobs["pretrain"]
    with_lr = replace(job, spec=replace(job.spec, arguments=("--lr=0.0001",)))
    flags = {line.removeprefix("--").partition("=")[0]: (line.partition("=")[2] or None) for line in target.render(project)[ARGUMENTS].splitlines()}
    said = {"flags": {**flags, "lr": "0.0001"}, "repeated": []}
    assert list(of_arguments(ARGUMENTS, said, with_lr, project.design)) == []
    assert [f.slug for f in of_arguments(ARGUMENTS, said, job, project.design)] == ["unplanned-megatron-argument"]


def test_blackwell_needs_no_single_connection(project):
    spec = replace(project.jobs["pretrain"].spec, gpu=catalog.gpu("b200"))
    assert list(of_words("megatron.env", "", environment(spec))) == []
    assert [f.slug for f in of_words("megatron.env", "CUDA_DEVICE_MAX_CONNECTIONS=1\n", environment(spec))] == ["launch-not-of-plan"]
