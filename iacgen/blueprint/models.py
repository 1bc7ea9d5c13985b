"""Language models by their numbers, for what the catalog does not have."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from .base import Section


class Experts(Section):
    """Experts in place of a layer's feed-forward; a router sends each token to a few of them."""

    count: int = Field(ge=2, le=4096, description="Experts of a layer that the router chooses from", examples=[8, 256])
    active: int = Field(ge=1, le=64, description="Experts that one token goes to", examples=[2, 8])
    hidden: int = Field(ge=1, le=1_048_576, description="Feed-forward size of one expert", examples=[14336])
    shared: int = Field(0, ge=0, le=64, description="Experts of the same size that every token goes to besides", examples=[1])
    dense_layers: int = Field(0, ge=0, le=1024, description="First layers, which have an ordinary feed-forward instead", examples=[3])
    router_bias: bool = Field(False, description="The router has one number an expert beside its matrix", examples=[True])
    router_score: Literal["softmax", "sigmoid"] = Field("softmax", description="What makes weights of the router's numbers", examples=["sigmoid"])
    router_scale: float | None = Field(None, gt=0, le=1e6, description="What the weights of a token's experts are multiplied by; nothing by default", examples=[2.5])
    router_groups: int | None = Field(None, ge=1, le=4096, description="Equal groups of experts, of which a token goes to router_active_groups; none by default", examples=[8])
    router_active_groups: int | None = Field(None, ge=1, le=4096, description="Groups that one token goes to", examples=[4])


class Stretch(Section):
    """Rotary positions that are stretched beyond the sequence of pre-training, as in Llama 3.1."""

    factor: float = Field(gt=1, le=1e6, description="How far slow positions are stretched", examples=[8.0])
    original: int = Field(ge=1, le=16_777_216, description="Sequence of pre-training, in tokens; jobs up to it are not stretched", examples=[8192])


class Latent(Section):
    """Multi-head latent attention, as in DeepSeek-V2 and V3."""

    query_rank: int | None = Field(None, ge=1, le=1_048_576, description="Width of the compressed queries; not compressed by default", examples=[1536])
    kv_rank: int = Field(ge=1, le=1_048_576, description="Width of the compressed keys and values", examples=[512])
    rope_dim: int = Field(ge=1, le=4096, description="Part of a head's queries and keys that carries the position", examples=[64])
    value_dim: int = Field(ge=1, le=4096, description="Size of a head's values", examples=[128])


class ModelShape(Section):
    """One decoder-only transformer."""

    layers: int = Field(ge=1, le=4096, description="Transformer layers", examples=[32])
    hidden: int = Field(ge=8, le=1_048_576, description="Width of the model", examples=[4096])
    heads: int = Field(ge=1, le=4096, description="Attention heads", examples=[32])
    kv_heads: int | None = Field(None, ge=1, le=4096, description="Key-value heads; as many as heads by default", examples=[8])
    head_dim: int | None = Field(None, ge=1, le=4096, description="Size of a head; hidden divided by heads by default", examples=[128])
    ffn_hidden: int = Field(ge=1, le=4_194_304, description="Feed-forward size of a layer without experts", examples=[14336])
    vocabulary: int = Field(ge=1, le=16_777_216, description="Tokens, before any padding", examples=[128256])
    max_sequence: int | None = Field(None, ge=1, le=16_777_216, description="Longest sequence it is made for, in tokens; the job's by default", examples=[8192])
    tied_embeddings: bool = Field(False, description="Input and output embedding are one matrix", examples=[False])
    gated_ffn: bool = Field(True, description="Feed-forward of three matrices (SwiGLU) instead of two", examples=[True])
    norm: Literal["rmsnorm", "layernorm"] = Field("rmsnorm", description="Norm in front of attention and feed-forward", examples=["rmsnorm"])
    norm_epsilon: float = Field(1e-5, ge=1e-12, le=0.1, description="Number that keeps the norm from dividing by zero", examples=[1e-5])
    bias: Literal["none", "qkv", "all"] = Field("none", description="Matrices with a bias: none, those of queries, keys and values, or all", examples=["none"])
    positions: Literal["rope", "learned", "alibi"] = Field("rope", description="How a token knows its place", examples=["rope"])
    rope_base: float | None = Field(None, ge=1.0, le=1e12, description="Base of the rotary positions; 10000 by default", examples=[500000.0])
    rope_stretch: Stretch | None = Field(None, description="How longer sequences than those of pre-training have their positions", examples=[{"factor": 8.0, "original": 8192}])
    embedding_norm: bool = Field(False, description="A norm behind the embedding, as in BLOOM", examples=[True])
    experts: Experts | None = Field(None, description="Experts in place of the feed-forward", examples=[{"count": 8, "active": 2, "hidden": 14336}])
    latent: Latent | None = Field(None, description="Latent attention in place of grouped queries", examples=[{"query_rank": 1536, "kv_rank": 512, "rope_dim": 64, "value_dim": 128}])

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> ModelShape:
        if self.heads % (self.kv_heads or 1):
            raise ValueError(f"heads {self.heads} is no multiple of kv_heads {self.kv_heads}")
        if self.head_dim is None and self.hidden % self.heads:
            raise ValueError(f"hidden {self.hidden} is no multiple of heads {self.heads}: say head_dim")
        if self.rope_base is not None and self.positions != "rope":
            raise ValueError(f"rope_base belongs to positions: rope, and positions is {self.positions}")
        if self.rope_stretch is not None and self.positions != "rope":
            raise ValueError(f"rope_stretch belongs to positions: rope, and positions is {self.positions}")
        if (e := self.experts) and (e.router_groups is None) != (e.router_active_groups is None):
            raise ValueError("experts.router_groups and experts.router_active_groups must be given together")
        if e and e.router_groups and (e.count % e.router_groups or (e.router_active_groups or 0) > e.router_groups):
            raise ValueError(f"{e.count} experts do not divide into experts.router_groups {e.router_groups}, of which a token goes to {e.router_active_groups}")
        if self.experts and self.experts.active > self.experts.count:
            raise ValueError(f"experts.active {self.experts.active} is more than the {self.experts.count} experts of a layer")
        if self.experts and self.experts.dense_layers >= self.layers:
            raise ValueError(f"experts.dense_layers {self.experts.dense_layers} leaves none of {self.layers} layers for experts")
        return self

    def figures(self, sequence: int) -> dict[str, Any]:
        """All numbers, those that were left out too; ``sequence`` is the job's."""
        out = self.model_dump()
        out["kv_heads"] = self.kv_heads or self.heads
        out["head_dim"] = self.head_dim or self.hidden // self.heads
        out["max_sequence"] = self.max_sequence or sequence
        out["rope_base"] = (self.rope_base or 10_000.0) if self.positions == "rope" else None
        return out
