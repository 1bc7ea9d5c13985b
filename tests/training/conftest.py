"""Jobs and models to ask about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from iacgen import catalog
from iacgen.training import JobSpec


@pytest.fixture(scope="session")
def gpt() -> Callable[..., catalog.Shape]:
    """A GPT of the given layers, hidden, heads and vocabulary: feed-forward 4h, biases, a learned position table."""

    def make(layers: int, hidden: int, heads: int, vocabulary: int, **other: object) -> catalog.Shape:
        numbers = {
            "ffn_hidden": 4 * hidden, "kv_heads": heads, "head_dim": hidden // heads, "tied_embeddings": True, "gated_ffn": False,
            "norm": "layernorm", "norm_epsilon": 1e-5, "bias": "all", "positions": "learned", "max_sequence": 1,
        }  # fmt: skip
        return catalog.Shape(id="gpt", name="GPT", layers=layers, hidden=hidden, heads=heads, vocabulary=vocabulary, **numbers | other)

    return make


@pytest.fixture(scope="session")
def llama() -> Callable[..., catalog.Shape]:
    """A model of the Llama form: RMS norm, gated feed-forward, separate output matrix, nothing with a bias."""

    def make(layers: int, hidden: int, ffn_hidden: int, heads: int, kv_heads: int, vocabulary: int, **other: object) -> catalog.Shape:
        numbers = {
            "ffn_hidden": ffn_hidden, "kv_heads": kv_heads, "head_dim": hidden // heads, "tied_embeddings": False, "gated_ffn": True,
            "norm": "rmsnorm", "norm_epsilon": 1e-5, "bias": "none", "positions": "rope", "rope_base": 10000, "max_sequence": 2**20,
        }  # fmt: skip
        return catalog.Shape(id="llama", name="Llama", layers=layers, hidden=hidden, heads=heads, vocabulary=vocabulary, **numbers | other)

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
        recompute="none",
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


@pytest.fixture(scope="session")
def moe() -> JobSpec:
    """Mixtral 8x7B on 16 DGX H100: eight experts over the eight GPUs of four tensor groups."""
    return JobSpec(
        name="moe",
        model=catalog.model("mixtral-8x7b"),
        gpu=catalog.gpu("h100-sxm"),
        nodes=16,
        gpus_per_node=8,
        sequence=4096,
        global_batch=256,
        tensor=2,
        pipeline=2,
        expert=8,
        sequence_parallel=True,
        distributed_optimizer=True,
        origin=("training", "moe"),
    )


@pytest.fixture(scope="session")
def latent(moe) -> JobSpec:
    """DeepSeek-V3 on 64 DGX H100: latent attention, 256 experts of a layer over 64 GPUs each."""
    return replace(moe, name="latent", model=catalog.model("deepseek-v3"), nodes=64, tensor=1, pipeline=8, last_layers=5, expert=64, sequence_parallel=False, global_batch=512, origin=("training", "latent"))
