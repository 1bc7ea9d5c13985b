"""Megatron's files: the plan as arguments, one a line, and the environment that Megatron asks for."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from iacgen import catalog
from iacgen.catalog.models import Experts, Latent
from iacgen.pipeline import run
from iacgen.render import UnrepresentableValue
from iacgen.targets import megatron
from iacgen.training import limits, plan
from iacgen.training.data import Input, Stage

ROOT = Path(__file__).parents[2]

MIXTRAL = {"model": catalog.model("mixtral-8x7b"), "nodes": 32, "tensor": 2, "pipeline": 4, "virtual": 1, "context": 1, "expert": 8, "global_batch": 256, "sequence": 4096}


@pytest.fixture(scope="module")
def superpod():
    return run((ROOT / "blueprints/superpod-h100.yaml").read_text(), "superpod").project


def flags_of(project, **changes):
    """Arguments of the job with other numbers, by name."""
    job, findings = plan(replace(project.jobs["pretrain"].spec, **changes))
    assert job, findings
    return dict(megatron.flags(job, project.design))


def test_only_megatron_jobs_get_files(superpod):
    assert {path.split("/")[1] for path in megatron.render(superpod)} == {"pretrain"}


def test_argparse_reads_each_line_as_one_argument(superpod):
    """Megatron-LM reads its arguments with argparse: a value with its flag on one line, no shell in between."""
    lines = megatron.render(superpod)["training/pretrain/megatron.args"].splitlines()
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for line in lines:
        name, equals, _ = line.partition("=")
        parser.add_argument(name, **({} if equals else {"action": "store_true"}))
    read = vars(parser.parse_args(lines))
    assert (read["tensor_model_parallel_size"], read["num_virtual_stages_per_pipeline_rank"], read["save"]) == ("8", "7", "/scratch/checkpoints/pretrain")
    assert read["sequence_parallel"] is True
    assert len(read) == len(lines)


@pytest.mark.parametrize(
    ("changes", "present", "absent"),
    [
        ({"virtual": 1}, {}, {"num-virtual-stages-per-pipeline-rank"}),
        ({"gradients": "fp32"}, {"accumulate-allreduce-grads-in-fp32": None}, {"grad-reduce-in-bf16"}),
        ({"recompute": "full"}, {"recompute-granularity": "full", "recompute-method": "uniform", "recompute-num-layers": 1}, set()),
        ({"fp8": True}, {"bf16": None, "fp8-format": "hybrid", "fp8-amax-history-len": 1024, "fp8-amax-compute-algo": "max"}, set()),
        ({"fp8": False}, {"bf16": None}, {"fp8-format", "fp8-amax-history-len"}),
        ({"recompute": "none"}, {}, {"recompute-granularity", "recompute-method", "recompute-num-layers"}),
        ({"distributed_optimizer": False, "nodes": 144, "pipeline": 18, "recompute": "full", "global_batch": 72}, {"overlap-grad-reduce": None}, {"overlap-param-gather", "use-distributed-optimizer"}),
        ({"first_layers": 13, "last_layers": 15, "virtual": 1, "recompute": "full"}, {"decoder-first-pipeline-num-layers": 13, "decoder-last-pipeline-num-layers": 15}, {"num-experts", "expert-tensor-parallel-size"}),
        (MIXTRAL, {"num-experts": 8, "moe-router-topk": 2, "moe-ffn-hidden-size": 14336, "expert-model-parallel-size": 8, "expert-tensor-parallel-size": 1}, {"moe-layer-freq"}),
        (MIXTRAL | {"offload_optimizer": "cpu"}, {"optimizer-cpu-offload": None, "use-precision-aware-optimizer": None}, set()),
        ({"data_path": "/scratch/data/corpus"}, {"data-path": "/scratch/data/corpus"}, set()),
        ({"checkpoint_to": None}, {}, {"save", "load", "save-interval", "ckpt-format"}),
        ({"checkpoint_target_s": None}, {"save": "/scratch/checkpoints/pretrain"}, {"save-interval", "exit-signal-handler"}),
        ({}, {"exit-signal-handler": None, "num-workers": 2, "no-create-attention-mask-in-dataloader": None}, {"data-cache-path"}),
        ({"flash_attention": False, "recompute": "full"}, {}, {"no-create-attention-mask-in-dataloader"}),
        ({"input": Input(workers=4, stage=Stage(None, "/raid/corpus", local=True))}, {"num-workers": 4, "data-cache-path": "/scratch/data-cache/pretrain"}, set()),
        ({"input": Input(stage=Stage(None, "/scratch/corpus", local=False))}, {}, {"data-cache-path"}),
    ],
)
def test_arguments_follow_the_plan(superpod, changes, present, absent):
    flags = flags_of(superpod, **changes)
    assert {name: flags[name] for name in present} == present
    assert not absent & set(flags)


def test_latent_attention_is_asked_for_without_groups_of_queries(superpod):
    """Megatron-LM validate_args: the two are mutually exclusive, and latent attention has no key-value heads to group."""
    model = catalog.model("deepseek-v3").model_copy(update={"kv_heads": 1})
    asked = dict(megatron._model(SimpleNamespace(spec=replace(superpod.jobs["pretrain"].spec, model=model))))
    assert "multi-latent-attention" in asked and not {"group-query-attention", "num-query-groups"} & set(asked)


# Figures of a model that make another one of it, on DeepSeek-V3 with a stretch of its positions.
OTHER_MODELS = {
    "layers": 62, "hidden": 6144, "ffn_hidden": 16384, "heads": 64, "head_dim": 64, "vocabulary": 32000, "tied_embeddings": True, "gated_ffn": False, "norm": "layernorm",
    "norm_epsilon": 1e-5, "bias": "all", "positions": "alibi", "rope_base": 5e5, "rope_stretch": None, "embedding_norm": True, "max_sequence": 163840,
    "experts": {"count": 128, "active": 4, "hidden": 1024, "shared": 2, "dense_layers": 1, "router_bias": False, "router_score": "softmax", "router_scale": 1.5, "router_groups": 4, "router_active_groups": 2},
    "latent": {"query_rank": None, "kv_rank": 256, "rope_dim": 32, "value_dim": 64},
}  # fmt: skip


def other_models():
    """(names of the figure, model) for each of them. Without latent attention there are key-value heads."""
    stretched = catalog.model("deepseek-v3").model_copy(update={"rope_stretch": catalog.model("llama-3.1-405b").rope_stretch})
    yield (), stretched
    for key, value in OTHER_MODELS.items():
        for part, one in value.items() if isinstance(value, dict) else ((None, value),):
            was = getattr(stretched, key)
            more = {"rope_base": None, "rope_stretch": None} if key == "positions" else {}
            if part == "router_score":
                was = was.model_copy(update={"router_bias": False})
            yield (key, part) if part else (key,), stretched.model_copy(update={key: was.model_copy(update={part: one}) if part else one, **more})
    grouped = stretched.model_copy(update={"latent": None})
    yield ("latent",), grouped
    yield ("kv_heads",), grouped.model_copy(update={"kv_heads": 8})


def test_every_figure_of_a_model_reaches_an_argument_or_a_finding(superpod):
    """Two models that differ in one figure have the same arguments only where a finding says so."""
    spec, seen = superpod.jobs["pretrain"].spec, {}
    for names, model in other_models():
        job = SimpleNamespace(spec=replace(spec, model=model, sequence=16384))
        said = (*megatron._batch(job), *megatron._model(job), *megatron._experts(job.spec), *(f.slug for f in limits._parts_have_a_program(job.spec)))
        assert said not in seen, f"{names} and {seen[said]} are one to Megatron"
        seen[said] = names
    shape = {(key,) for key in catalog.Shape.model_fields if key not in ("id", "name", "experts", "latent")}
    parts = {(key, part) for key, kind in (("experts", Experts), ("latent", Latent)) for part in kind.model_fields}
    assert shape | parts <= set(seen.values())


def test_positions_are_stretched_beyond_the_sequence_of_pre_training(superpod):
    assert not {"use-rope-scaling", "rope-scaling-factor"} & set(flags_of(superpod))
    job = SimpleNamespace(spec=replace(superpod.jobs["pretrain"].spec, sequence=16384))
    assert dict(megatron._model(job))["rope-scaling-factor"] == 8


def test_experts_with_a_bias_are_added_without_the_fused_kernel(superpod):
    """megatron-core, TEGroupedMLP, asserts it."""
    asked = {}
    for bias in ("none", "qkv", "all"):
        model = catalog.model("mixtral-8x7b").model_copy(update={"bias": bias})
        asked[bias] = "no-bias-dropout-fusion" in dict(megatron._model(SimpleNamespace(spec=replace(superpod.jobs["pretrain"].spec, model=model))))
    assert asked == {"none": False, "qkv": False, "all": True}


def test_one_connection_below_blackwell_only(superpod):
    """Megatron-LM validate_args: tensor or context parallelism below compute capability 10 needs CUDA_DEVICE_MAX_CONNECTIONS=1."""
    spec = superpod.jobs["pretrain"].spec
    named = {gpu: [name for name, _, _ in megatron.environment(replace(spec, gpu=catalog.gpu(gpu)))] for gpu in ("a100-80", "h100-sxm", "h200", "b200")}
    assert named == {"a100-80": ["CUDA_DEVICE_MAX_CONNECTIONS"], "h100-sxm": ["CUDA_DEVICE_MAX_CONNECTIONS"], "h200": ["CUDA_DEVICE_MAX_CONNECTIONS"], "b200": []}
    assert megatron.environment(replace(spec, tensor=1, context=1)) == ()


def test_an_environment_without_variables_is_still_a_file_that_a_shell_sources(superpod):
    job = superpod.jobs["pretrain"]
    blackwell = replace(superpod, jobs={"pretrain": replace(job, spec=replace(job.spec, gpu=catalog.gpu("b200")))})
    text = megatron.render(blackwell)["training/pretrain/megatron.env"]
    assert all(line.startswith("#") or not line for line in text.splitlines())


def test_the_user_s_arguments_come_last_and_word_by_word(superpod):
    job = superpod.jobs["pretrain"]
    with_words = replace(superpod, jobs={"pretrain": replace(job, spec=replace(job.spec, arguments=("--lr=1e-4", "--mock-data")))})
    assert megatron.render(with_words)["training/pretrain/megatron.args"].splitlines()[-2:] == ["--lr=1e-4", "--mock-data"]


def test_a_word_that_would_be_two_arguments_is_refused(superpod):
    job = superpod.jobs["pretrain"]
    with_break = replace(superpod, jobs={"pretrain": replace(job, spec=replace(job.spec, arguments=("--lr=1\n--save=/tmp",)))})
    with pytest.raises(UnrepresentableValue):
        megatron.render(with_break)
