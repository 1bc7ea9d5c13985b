"""Bytes that the forward pass leaves behind for the backward pass, on one GPU.

The formulas are those of arXiv:2205.05198 (sections 4 and 5), written per tensor so that grouped-query attention and gated
feed-forward layers come out of the same lines. For a GPT layer with dropout and s tokens, b sequences, h hidden, a heads, t
tensor-parallel ranks they give the paper's sbh(10 + 24/t + 5as/ht), and sbh(34 + 5as/h)/t with sequence parallelism.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from iacgen.training.parameters import padded_vocabulary, stage_layers

if TYPE_CHECKING:
    from iacgen.training.spec import JobSpec


def layer_bytes(spec: JobSpec, attention_matrix: bool) -> int:
    """One layer and one micro batch, nothing recomputed; with or without the a * s * s attention matrices.

    Two bytes an element. Cut by tensor parallelism: queries, keys, values, the attention's result, and the feed-forward's
    inner tensors (two of them, three when gated). Whole, or cut by sequence parallelism: the inputs of both norms and of both
    first matrices (8sbh), and two dropout masks of a byte. Flash attention keeps one fp32 number per query and head
    (arXiv:2307.08691); dropping the mask of a stored attention matrix leaves 2 of its 5 bytes.
    """
    model, t = spec.model, spec.tensor
    tokens = spec.local_sequence * spec.micro_batch
    shared = (10 if spec.dropout else 8) * tokens * model.hidden // (t if spec.sequence_parallel else 1)
    heads, kv_heads = model.heads // t, max(model.kv_heads // t, 1)
    inner = (6 if model.gated_ffn else 4) * model.ffn_hidden // t
    cut = tokens * (4 * heads * model.head_dim + 4 * kv_heads * model.head_dim + inner)
    if attention_matrix:
        attention = (5 if spec.dropout else 2) * heads * tokens * spec.sequence
    else:
        attention = 4 * heads * tokens if spec.flash_attention else 0
    return shared + cut + attention


def stored_layer_bytes(spec: JobSpec) -> int:
    """What one layer keeps of one micro batch until its backward pass."""
    if spec.recompute == "full":
        return input_bytes(spec)
    return layer_bytes(spec, attention_matrix=spec.recompute == "none" and not spec.flash_attention)


def input_bytes(spec: JobSpec) -> int:
    """The tensor between two layers: 2sbh, cut by sequence parallelism."""
    return 2 * spec.local_sequence * spec.micro_batch * spec.model.hidden // (spec.tensor if spec.sequence_parallel else 1)


def working_bytes(spec: JobSpec) -> int:
    """The one layer that is being recomputed: all of it with full recomputation, its attention matrices with selective."""
    matrix = not spec.flash_attention
    if spec.recompute == "full":
        return layer_bytes(spec, attention_matrix=matrix)
    if spec.recompute == "selective" and matrix:
        return layer_bytes(spec, attention_matrix=True) - layer_bytes(spec, attention_matrix=False)
    return 0


def layers_in_flight(spec: JobSpec, stage: int) -> Fraction:
    """Layers times micro batches whose activations a stage holds at its peak.

    One-forward-one-backward: stage i of p holds p - i micro batches (arXiv:2104.04473, section 2.2). With v chunks a stage it
    holds 2(p - i - 1) + (v - 1)p + 1 chunks, so that the first one holds L(1 + (p - 1)/(pv)) layers (arXiv:2205.05198,
    section 4.2.3). Never more than the step has micro batches.
    """
    layers, p, v, micro_batches = stage_layers(spec)[stage], spec.pipeline, spec.virtual, spec.micro_batches
    if v == 1:
        return Fraction(min(p - stage, micro_batches) * layers)
    chunks = min(2 * (p - stage - 1) + (v - 1) * p + 1, micro_batches * v)
    return Fraction(chunks * layers, v)


def stored_bytes(spec: JobSpec, stage: int) -> int:
    """Stored activations of all layers in flight on one GPU of ``stage``.

    DeepSpeed's pipeline engine also keeps the output of the stage for each micro batch in flight; Megatron lets it go.
    """
    layers = round(layers_in_flight(spec, stage) * stored_layer_bytes(spec))
    if spec.framework == "deepspeed" and spec.pipeline > 1:
        layers += min(spec.pipeline - stage, spec.micro_batches) * input_bytes(spec)
    return layers


def logits_bytes(spec: JobSpec) -> int:
    """Last stage, one micro batch: inputs of the last norm and of the output matrix, the logits and their gradient.

    arXiv:2205.05198, section 4.3, has 4sbh(1 + V/h)/t with fp32 logits; their bf16 gradient, 2sbV/t, lives beside them at the
    start of the backward pass. A fused loss keeps bf16 logits and their gradient, 4sbV/t in all.
    """
    vocabulary = spec.model.vocabulary
    if spec.framework == "megatron":
        vocabulary = padded_vocabulary(vocabulary, spec.tensor)
    each = 4 if spec.fused_loss else 6
    return 2 * input_bytes(spec) + each * spec.local_sequence * spec.micro_batch * vocabulary // spec.tensor
