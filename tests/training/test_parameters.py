"""Parameter counts against what publishers print, and shards against the whole."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacgen import catalog
from iacgen.training.parameters import count, padded_vocabulary, shard, stage_layers
from iacgen.verify import programs
from iacgen.verify.process import run


EXACT = [model for model in catalog.entries("models") if model.published_parameters]
PRINTED = [model for model in catalog.entries("models") if model.published_billions]
ACTIVE = [model for model in catalog.entries("models") if model.published_active_billions]


@pytest.mark.parametrize("model", EXACT, ids=lambda model: model.id)
def test_catalog_models_have_their_published_count(model):
    assert count(model, model.max_sequence).total == model.published_parameters


@pytest.mark.parametrize("model", PRINTED, ids=lambda model: model.id)
def test_catalog_models_have_about_the_count_that_is_printed(model):
    assert count(model, model.max_sequence).total / 1e9 == pytest.approx(model.published_billions, rel=0.005)


@pytest.mark.parametrize("model", ACTIVE, ids=lambda model: model.id)
def test_parameters_at_work_on_one_token_are_those_that_are_printed(model):
    """With or without the table of the embedding, of which a token takes one row: publishers differ."""
    parameters = count(model, model.max_sequence)
    table = model.vocabulary * model.hidden
    printed = model.published_active_billions
    digits = len(str(printed).partition(".")[2].rstrip("0"))
    assert printed in {round(n / 1e9, digits) for n in (parameters.active, parameters.active - table)}


def test_experts_are_the_difference_of_all_and_active():
    """Mixtral 8x7B, arXiv:2401.04088: two of eight experts of 3 * 4096 * 14336 in each of 32 layers."""
    parameters = count(catalog.model("mixtral-8x7b"), 4096)
    assert parameters.total - parameters.active == 32 * 6 * 3 * 4096 * 14336


def test_every_family_that_the_project_names_is_there():
    sizes = {"1b": 1.3, "3b": 2.7, "7b": 6.7, "13b": 12.9, "30b": 30.0, "70b": 64.9}
    assert {size: round(count(catalog.model(f"mpt-{size}"), 2048).total / 1e9, 1) for size in sizes} == sizes
    assert {"gpt-3-175b", "bloom-176b", "mixtral-8x7b", "mixtral-8x22b", "deepseek-v3"} <= set(catalog.ids("models"))


@pytest.mark.parametrize(
    ("layers", "hidden", "heads", "billions"),
    [(24, 2304, 24, 1.7), (36, 4096, 32, 7.5), (48, 8192, 64, 39.1), (80, 12288, 96, 145.6), (105, 20480, 128, 529.6)],
)
def test_the_table_of_arxiv_2104_04473(gpt, layers, hidden, heads, billions):
    assert round(count(gpt(layers, hidden, heads, 51200), 2048).total / 1e9, 1) == billions


def test_gpt2_xl_has_its_published_count(gpt):
    assert count(gpt(48, 1600, 25, 50257), 1024).total == 1_557_611_200


@pytest.mark.parametrize(("vocabulary", "tensor", "rows"), [(50257, 1, 50304), (50257, 8, 51200), (128256, 8, 129024), (51200, 8, 51200)])
def test_megatron_pads_the_vocabulary(vocabulary, tensor, rows):
    assert padded_vocabulary(vocabulary, tensor) == rows


@given(pipeline=st.sampled_from([1, 2, 4, 8]), tied=st.booleans(), gated=st.booleans())
def test_stages_add_up_to_the_model(finetune, llama, gpt, pipeline, tied, gated):
    model = llama(8, 256, 768, 4, 2, 1024) if gated else gpt(8, 256, 4, 1024)
    spec = replace(finetune, model=model.model_copy(update={"tied_embeddings": tied}), pipeline=pipeline, sequence=128)
    parts = sum(shard(spec, stage).total for stage in range(pipeline))
    copies = 1024 * 256 if tied and pipeline > 1 else 0
    assert parts == count(spec.model, 128).total + copies


@given(tensor=st.sampled_from([1, 2, 4, 8]), gated=st.booleans())
def test_tensor_shards_hold_every_matrix_once_and_every_norm_each(finetune, llama, gpt, tensor, gated):
    model = llama(4, 512, 1024, 16, 8, 4096) if gated else gpt(4, 512, 16, 4096)
    spec = replace(finetune, model=model, tensor=tensor, sequence=128)
    # Norms, the position table and the biases behind row-parallel matrices are not cut.
    whole = 4 * 2 * 512 + 512 if gated else 4 * (4 + 2) * 512 + 2 * 512 + 128 * 512
    assert tensor * shard(spec, 0).total == count(model, 128).total + (tensor - 1) * whole


def test_shards_of_experts_add_up_to_the_model(moe):
    """Two tensor ranks, two stages, eight groups of experts: norms and routers are on each tensor rank, the rest once."""
    spec = replace(moe, framework="deepspeed")
    held = [shard(spec, stage) for stage in range(2)]
    whole = 32 * (2 * 4096 + 4096 * 8) + 4096
    assert 2 * sum(part.dense for part in held) + 8 * sum(part.experts for part in held) == 46_702_792_704 + whole
    assert sum(part.experts for part in held) == 32 * 3 * 4096 * 14336


def test_latent_attention_is_cut_by_heads(moe):
    """DeepSeek-V3: what leads into the narrow vectors is whole on each of eight ranks, what leads out of them is cut."""
    spec = replace(moe, model=catalog.model("deepseek-v3"), framework="deepspeed", tensor=8, pipeline=1, expert=1, expert_tensor=1, nodes=64)
    h = 7168
    narrow = h * (1536 + 512 + 64) + 1536 + 512
    wide = 128 * (1536 * 192 + 512 * 256 + 128 * h) // 8
    ffn, shared, router = 3 * h * 18432 // 8, 3 * h * 2048 // 8, (h + 1) * 256
    assert shard(spec, 0).layers == 61 * (narrow + wide + 2 * h) + 3 * ffn + 58 * (shared + router)


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ({"pipeline": 3, "first_layers": 40}, (40, 43, 43)),
        ({"pipeline": 3, "last_layers": 40}, (43, 43, 40)),
        ({"pipeline": 4, "first_layers": 30, "last_layers": 32}, (30, 32, 32, 32)),
        ({"pipeline": 2, "first_layers": 60, "last_layers": 66}, (60, 66)),
    ],
)
def test_the_ends_have_numbers_of_their_own(pretrain, numbers, expected):
    assert stage_layers(replace(pretrain, **numbers)) == expected


@pytest.mark.judge("megatron")
def test_megatron_core_lays_uneven_stages_the_same_way(pretrain):
    """megatron-core's own count of the layers that each stage and chunk builds."""
    cases = [
        {"pipeline": 3, "virtual": 1, "first_layers": 40}, {"pipeline": 4, "virtual": 2, "first_layers": 30, "last_layers": 32},
        {"pipeline": 9, "virtual": 7}, {"pipeline": 16, "virtual": 8, "embedding_as_layer": True, "loss_as_layer": True},
        {"pipeline": 16, "virtual": 1, "embedding_as_layer": True, "loss_as_layer": True},
    ]  # fmt: skip
    python = programs.find("megatron").path
    answer = run([python, Path(__file__).with_name("ask_megatron.py"), "layers", json.dumps([[[126, case] for case in cases]])], timeout=300)
    assert answer.ok, answer.err
    for case, theirs in zip(cases, json.loads(answer.out.splitlines()[-1]), strict=True):
        assert list(stage_layers(replace(pretrain, **{"virtual": 1} | case))) == theirs, case


def test_ranks_beyond_the_key_value_heads_keep_one_whole(finetune, llama):
    few, enough = (replace(finetune, model=llama(1, 512, 1024, 16, heads, 4096), tensor=8) for heads in (2, 8))
    assert shard(few, 0) == shard(enough, 0)


@pytest.mark.parametrize(
    ("embedding", "loss", "expected"),
    [(False, False, (42, 42, 42)), (True, True, (41, 42, 41))],
)
def test_embedding_and_loss_shorten_the_ends(pretrain, embedding, loss, expected):
    layers = 126 - embedding - loss
    model = pretrain.model.model_copy(update={"layers": layers})
    spec = replace(pretrain, model=model, pipeline=3, embedding_as_layer=embedding, loss_as_layer=loss)
    assert stage_layers(spec) == expected
