"""Jobs and models to ask about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from iacgen import catalog
from iacgen.training import JobSpec


@dataclass(frozen=True)
class Shape:
    """A model that the catalog does not have, by its numbers."""

    id: str
    layers: int
    hidden: int
    heads: int
    vocabulary: int
    ffn_hidden: int
    kv_heads: int
    head_dim: int
    tied_embeddings: bool = True
    gated_ffn: bool = False
    norm: str = "layernorm"
    max_sequence: int = 2**20


@pytest.fixture(scope="session")
def gpt() -> Callable[..., Shape]:
    """A GPT of the given layers, hidden, heads and vocabulary: feed-forward 4h, no grouped queries."""

    def make(layers: int, hidden: int, heads: int, vocabulary: int, **other: object) -> Shape:
        shape = {"id": "gpt", "ffn_hidden": 4 * hidden, "kv_heads": heads, "head_dim": hidden // heads, **other}
        return Shape(layers=layers, hidden=hidden, heads=heads, vocabulary=vocabulary, **shape)

    return make


@pytest.fixture(scope="session")
def llama() -> Callable[..., Shape]:
    """A model of the Llama form: RMS norm, gated feed-forward, separate output matrix."""

    def make(layers: int, hidden: int, ffn_hidden: int, heads: int, kv_heads: int, vocabulary: int) -> Shape:
        return Shape("llama", layers, hidden, heads, vocabulary, ffn_hidden, kv_heads, hidden // heads, False, True, "rmsnorm")

    return make


@pytest.fixture(scope="session")
def pretrain() -> JobSpec:
    """Llama 3.1 405B on 126 DGX H100, the job of the superpod blueprint."""
    return JobSpec(
        name="pretrain",
        model=catalog.model("llama-3.1-405b"),
        gpu=catalog.gpu("h100-sxm"),
        nodes=126,
        gpus_per_node=8,
        sequence=8192,
        global_batch=252,
        tensor=8,
        pipeline=9,
        virtual=7,
        context=2,
        sequence_parallel=True,
        recompute="selective",
        distributed_optimizer=True,
        checkpoint_target_s=60,
        origin=("training", "pretrain"),
    )


@pytest.fixture(scope="session")
def finetune() -> JobSpec:
    """Llama 3 70B with ZeRO 3 on 32 DGX H100."""
    return JobSpec(
        name="finetune",
        model=catalog.model("llama-3-70b"),
        gpu=catalog.gpu("h100-sxm"),
        nodes=32,
        gpus_per_node=8,
        sequence=8192,
        global_batch=256,
        framework="deepspeed",
        zero=3,
        recompute="full",
        origin=("training", "finetune"),
    )
