"""What changing a model's numbers means: checkpoints are shaped by them."""

from __future__ import annotations

from ..model import Effect
from ..rule import Rule, Table, always, edit

_SHAPE = "layers: 16, hidden: 2048, heads: 16, kv_heads: 16, ffn_hidden: 8192, vocabulary: 50304"
_PLAIN = (f"models.our-1b={{{_SHAPE}}}",)
_MIXED = (f"models.our-1b={{{_SHAPE}, experts: {{count: 8, active: 2, hidden: 4096}}}}",)
_GROUPED = (f"models.our-1b={{{_SHAPE}, experts: {{count: 8, active: 2, hidden: 4096, router_groups: 4, router_active_groups: 2}}}}",)
_LATENT = (f"models.our-1b={{{_SHAPE}, latent: {{kv_rank: 512, rope_dim: 64, value_dim: 128}}}}",)
_STRETCHED = (f"models.our-1b={{{_SHAPE}, rope_stretch: {{factor: 8.0, original: 8192}}}}",)


def _shape(key: str, value: str, also: tuple[str, ...] = _PLAIN) -> tuple[Rule, ...]:
    """Tensors have other shapes, or others are there."""
    return (
        Rule(
            always,
            Effect.NOTHING,
            "Tensors of the model have other shapes or numbers: checkpoints of {name} as it was cannot be loaded into it.",
            "Add the changed model under a new name, so that jobs of the old one go on; start the new one from its first step.",
            edit("lab", f"models.our-1b.{key}={value}", also=also),
        ),
    )


def _meaning(key: str, value: str, also: tuple[str, ...] = _PLAIN) -> tuple[Rule, ...]:
    """Tensors fit, and mean something else."""
    return (
        Rule(
            always,
            Effect.NOTHING,
            "Checkpoints load, since no tensor changes, but the model computes something else with them: the loss jumps, without an error.",
            "Do so only on purpose, as when a sequence is made longer; else add the changed model under a new name.",
            edit("lab", f"models.our-1b.{key}={value}", also=also),
        ),
    )


TABLES: dict[str, Table] = {
    "ModelShape": {
        "layers": _shape("layers", "24"),
        "hidden": _shape("hidden", "4096"),
        "heads": _shape("heads", "32"),
        "kv_heads": _shape("kv_heads", "8"),
        "head_dim": _shape("head_dim", "64"),
        "ffn_hidden": _shape("ffn_hidden", "4096"),
        "vocabulary": _shape("vocabulary", "128256"),
        "max_sequence": _meaning("max_sequence", "8192"),
        "tied_embeddings": _shape("tied_embeddings", "true"),
        "gated_ffn": _shape("gated_ffn", "false"),
        "norm": _shape("norm", "layernorm"),
        "norm_epsilon": _meaning("norm_epsilon", "1e-6"),
        "bias": _shape("bias", "all"),
        "positions": _shape("positions", "learned"),
        "rope_base": _meaning("rope_base", "500000.0"),
        "rope_stretch": _meaning("rope_stretch", "{factor: 8.0, original: 8192}"),
        "embedding_norm": _shape("embedding_norm", "true"),
        "experts": _shape("experts", "{count: 8, active: 2, hidden: 4096}"),
        "latent": _shape("latent", "{kv_rank: 512, rope_dim: 64, value_dim: 128}"),
    },
    "Experts": {
        "count": _shape("experts.count", "16", _MIXED),
        "active": _meaning("experts.active", "4", _MIXED),
        "hidden": _shape("experts.hidden", "2048", _MIXED),
        "shared": _shape("experts.shared", "1", _MIXED),
        "dense_layers": _shape("experts.dense_layers", "1", _MIXED),
        "router_bias": _shape("experts.router_bias", "true", _MIXED),
        "router_score": _meaning("experts.router_score", "sigmoid", _MIXED),
        "router_scale": _meaning("experts.router_scale", "2.5", _MIXED),
        "router_groups": _meaning("experts.router_groups", "8", _GROUPED),
        "router_active_groups": _meaning("experts.router_active_groups", "4", _GROUPED),
    },
    "Stretch": {"factor": _meaning("rope_stretch.factor", "4.0", _STRETCHED), "original": _meaning("rope_stretch.original", "4096", _STRETCHED)},
    "Latent": {
        "query_rank": _shape("latent.query_rank", "1536", _LATENT),
        "kv_rank": _shape("latent.kv_rank", "256", _LATENT),
        "rope_dim": _shape("latent.rope_dim", "32", _LATENT),
        "value_dim": _shape("latent.value_dim", "64", _LATENT),
    },
}
