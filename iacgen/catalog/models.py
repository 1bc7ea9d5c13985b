"""Shapes of language models, as their publishers give them. No parameter count is used: the training room computes it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt, model_validator

from iacgen.catalog.entry import Entry, EntryId, Facts, Text


class Experts(Facts):
    """Experts in place of a layer's feed-forward: a router sends each token to a few of them."""

    count: PositiveInt = Field(description="routed experts of a layer")
    active: PositiveInt = Field(description="routed experts that one token goes to")
    hidden: PositiveInt = Field(description="feed-forward size of one expert")
    shared: NonNegativeInt = Field(default=0, description="experts of the same size that every token goes to besides")
    dense_layers: NonNegativeInt = Field(default=0, description="layers, the first ones, that have an ordinary feed-forward instead")
    router_bias: bool = Field(default=False, description="the router has one learnt or balanced number an expert beside its matrix")
    router_score: Literal["softmax", "sigmoid"] = Field(default="softmax", description="what makes weights of the router's numbers")
    router_scale: PositiveFloat | None = Field(default=None, description="what the weights of a token's experts are multiplied by")
    router_groups: PositiveInt | None = Field(default=None, description="equal groups of experts, of which a token goes to a few")
    router_active_groups: PositiveInt | None = Field(default=None, description="groups that one token goes to")

    @model_validator(mode="after")
    def _tokens_find_their_experts(self) -> Experts:
        if self.active > self.count:
            raise ValueError(f"active {self.active} is more than the {self.count} experts of a layer")
        if (self.router_groups is None) != (self.router_active_groups is None):
            raise ValueError("router_groups and router_active_groups must be given together")
        if self.router_groups and (self.count % self.router_groups or (self.router_active_groups or 0) > self.router_groups):
            raise ValueError(f"{self.count} experts do not divide into {self.router_groups} groups, of which a token goes to {self.router_active_groups}")
        return self


class Latent(Facts):
    """Multi-head latent attention (arXiv:2405.04434, section 2.1): keys and values come out of one narrow vector a token."""

    query_rank: PositiveInt | None = Field(default=None, description="width of the compressed queries; None: they are not compressed")
    kv_rank: PositiveInt = Field(description="width of the compressed keys and values")
    rope_dim: PositiveInt = Field(description="part of a head's queries and keys that carries the rotary position, shared by all heads of the keys")
    value_dim: PositiveInt = Field(description="size of a head's values")


class Stretch(Facts):
    """Rotary positions that are stretched beyond the sequence of pre-training, as in Llama 3.1: slow ones by ``factor``, fast ones not."""

    factor: PositiveFloat
    original: PositiveInt = Field(description="sequence of pre-training, tokens: up to here positions are not stretched")


class Shape(Facts):
    """One decoder-only transformer by its numbers.

    ``head_dim`` is the size of a head's queries, keys and values; with ``latent`` that of the part without position. ``bias`` says
    which matrices have one: none, those behind queries, keys and values, or all (with all, and a layer norm, the norms too).
    """

    id: EntryId
    name: Text
    layers: PositiveInt
    hidden: PositiveInt
    ffn_hidden: PositiveInt = Field(description="feed-forward size of a layer without experts")
    heads: PositiveInt
    kv_heads: PositiveInt = Field(description="key-value heads; fewer than heads is grouped-query attention")
    head_dim: PositiveInt
    vocabulary: PositiveInt = Field(description="tokens, before any padding for tensor parallelism")
    tied_embeddings: bool = Field(description="input and output embedding are one matrix")
    gated_ffn: bool = Field(description="SwiGLU: three matrices instead of two")
    norm: Literal["rmsnorm", "layernorm"]
    norm_epsilon: PositiveFloat
    bias: Literal["none", "qkv", "all"]
    positions: Literal["rope", "learned", "alibi"] = Field(description="learned: a table of max_sequence rows or of the job's sequence, whichever is longer")
    rope_base: PositiveFloat | None = None
    rope_stretch: Stretch | None = Field(default=None, description="how longer sequences than those of pre-training have their positions")
    embedding_norm: bool = Field(default=False, description="a norm behind the embedding")
    max_sequence: PositiveInt = Field(description="longest sequence, tokens")
    experts: Experts | None = None
    latent: Latent | None = None

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Shape:
        if self.heads % self.kv_heads:
            raise ValueError(f"heads {self.heads} is no multiple of kv_heads {self.kv_heads}")
        if (self.positions == "rope") != (self.rope_base is not None):
            raise ValueError("rope_base and positions rope must be given together")
        if self.experts and self.experts.dense_layers >= self.layers:
            raise ValueError(f"experts.dense_layers {self.experts.dense_layers} leaves none of {self.layers} layers for experts")
        return self


class Model(Entry, Shape):
    """One published model."""

    kind: Literal["model"]
    vendor: Text
    published_parameters: PositiveInt | None = Field(default=None, description="exact count, to test the formula of the training room against")
    published_active_parameters: PositiveInt | None = Field(default=None, description="of them those that work on one token, exact")
    published_billions: PositiveFloat | None = Field(default=None, description="count as its publisher prints it, 10^9, where no exact one is known")
    published_active_billions: PositiveFloat | None = Field(default=None, description="those that work on one token, as printed")
