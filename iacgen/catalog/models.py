"""Shapes of language models, as their publishers give them. No parameter count is used: the training room computes it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from iacgen.catalog.entry import Entry, Text


class Model(Entry):
    """One decoder-only transformer."""

    kind: Literal["model"]
    vendor: Text
    layers: PositiveInt
    hidden: PositiveInt
    ffn_hidden: PositiveInt
    heads: PositiveInt
    kv_heads: PositiveInt = Field(description="key-value heads; fewer than heads is grouped-query attention")
    head_dim: PositiveInt
    vocabulary: PositiveInt = Field(description="tokens, before any padding for tensor parallelism")
    tied_embeddings: bool = Field(description="input and output embedding are one matrix")
    gated_ffn: bool = Field(description="SwiGLU: three matrices instead of two")
    norm: Literal["rmsnorm", "layernorm"]
    norm_epsilon: PositiveFloat
    rope_base: PositiveFloat
    max_sequence: PositiveInt = Field(description="longest sequence, tokens")
    published_parameters: PositiveInt = Field(description="exact count, to test the formula of the training room against")

    @model_validator(mode="after")
    def _heads_divide(self) -> Model:
        if self.heads % self.kv_heads:
            raise ValueError(f"heads {self.heads} is no multiple of kv_heads {self.kv_heads}")
        return self
