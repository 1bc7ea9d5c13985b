"""Parameter counts against what publishers print, and shards against the whole."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacgen import catalog
from iacgen.training.parameters import count, padded_vocabulary, shard, stage_layers


@pytest.mark.parametrize("id", catalog.ids("models"))
def test_catalog_models_have_their_published_count(id):
    model = catalog.model(id)
    assert count(model, model.max_sequence).total == model.published_parameters


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
