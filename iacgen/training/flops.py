"""Floating-point operations of a step: those of the model, and those that the hardware does.

Two operations for each multiply-add. Norms, activations and the softmax are left out, as in all published counts. Attention is counted
whole, the half that a causal mask leaves out too, as arXiv:2104.04473 (appendix), PaLM (arXiv:2204.02311, appendix B) and llm-foundry do:
shares of the peak (MFU, HFU) then compare with theirs. Times do not rest on this count: of flash attention ``kernels`` takes the causal
half alone, and ``assume.attention`` is a share of the peak by that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from iacgen.training.parameters import count

if TYPE_CHECKING:
    from iacgen.catalog import Shape
    from iacgen.training.spec import JobSpec


def matrix_parameters(model: Shape, sequence: int) -> int:
    """Parameters that one token is multiplied with: the active ones, the embedding once (as the output layer), no position table."""
    parts = count(model, sequence)
    table = model.vocabulary * model.hidden
    return parts.active - parts.embedding - parts.head + table


def attention_flops_per_token(model: Shape, sequence: int) -> int:
    """Queries with keys, and weights with values, over the whole sequence, forward: 4hs a layer where heads times size is h."""
    keys = model.head_dim + (model.latent.rope_dim if model.latent else 0)
    values = model.latent.value_dim if model.latent else model.head_dim
    return 2 * model.layers * model.heads * (keys + values) * sequence


def forward_flops(spec: JobSpec) -> int:
    """One forward pass over all tokens of a step."""
    per_token = 2 * matrix_parameters(spec.model, spec.sequence) + attention_flops_per_token(spec.model, spec.sequence)
    return per_token * spec.sequence * spec.global_batch


def model_flops(spec: JobSpec) -> int:
    """A step of the model: forward once, backward twice as much. GPT: 72BLsh²(1 + s/6h + V/12hL) of arXiv:2104.04473, and biases."""
    return 3 * forward_flops(spec)


def hardware_flops(spec: JobSpec) -> int:
    """With what recomputation repeats: the whole forward pass but the output layer, or attention alone."""
    model, tokens = spec.model, spec.sequence * spec.global_batch
    repeated = 0
    if spec.recompute == "full":
        repeated = forward_flops(spec) - 2 * model.vocabulary * model.hidden * tokens
    elif spec.recompute == "selective":
        repeated = attention_flops_per_token(model, spec.sequence) * tokens
    return model_flops(spec) + repeated
