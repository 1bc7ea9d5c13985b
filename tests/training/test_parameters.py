"""Parameter counts against what publishers print, and shards against the whole."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacgen import catalog
from iacgen.training.parameters import count, padded_vocabulary, shard, stage_layers


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
