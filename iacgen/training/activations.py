"""Bytes that the forward pass leaves behind for the backward pass, on one GPU.

The formulas are those of arXiv:2205.05198 (sections 4 and 5), written per tensor so that grouped-query attention, latent
attention, gated feed-forward layers and experts come out of the same lines. For a GPT layer with dropout and s tokens, b
sequences, h hidden, a heads, t tensor-parallel ranks they give the paper's sbh(10 + 24/t + 5as/ht), and sbh(34 + 5as/h)/t with
sequence parallelism.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from iacgen.training.parameters import padded_vocabulary, stage_kinds, stage_layers

if TYPE_CHECKING:
    from iacgen.training.spec import JobSpec


def layer_bytes(spec: JobSpec, attention_matrix: bool, experts: bool = False) -> int:
    """One layer and one micro batch, nothing recomputed; with or without the a * s * s attention matrices, and with an ordinary
    feed-forward or with experts.

    Two bytes an element. Cut by tensor parallelism: queries, keys, values, the attention's result, and the feed-forward's
    inner tensors (two of them, three when gated). Whole, or cut by sequence parallelism: the inputs of both norms and of both
    first matrices (8sbh), and two dropout masks of a byte. Flash attention keeps one fp32 number per query and head
    (arXiv:2307.08691); dropping the mask of a stored attention matrix leaves 2 of its 5 bytes.
    """
    model, t = spec.model, spec.tensor
    tokens = spec.local_sequence * spec.micro_batch
    narrow = model.latent.kv_rank + model.latent.rope_dim + model.latent.kv_rank + 2 * (model.latent.query_rank or 0) if model.latent else 0
    shared = tokens * ((10 if spec.dropout else 8) * model.hidden + 2 * narrow) // (t if spec.sequence_parallel else 1)
    heads = model.heads // t
    cut = tokens * _heads_bytes(spec)
    if attention_matrix:
        attention = (5 if spec.dropout else 2) * heads * tokens * spec.sequence
    else:
        attention = 4 * heads * tokens if spec.flash_attention else 0
    return shared + cut + attention + (_expert_bytes(spec) if experts else tokens * _inner(spec) * model.ffn_hidden // t)


def _heads_bytes(spec: JobSpec) -> int:
    """Queries, keys, values and the attention's result of one token. Latent attention makes whole keys and values for its heads."""
    model, heads = spec.model, spec.model.heads // spec.tensor
    if model.latent:
        key = model.head_dim + model.latent.rope_dim
        return 2 * heads * (2 * key + 2 * model.latent.value_dim)
    return 4 * heads * model.head_dim + 4 * max(model.kv_heads // spec.tensor, 1) * model.head_dim


def _inner(spec: JobSpec) -> int:
    """Bytes of a feed-forward's inner tensors for each of its inner elements: two tensors, three when gated."""
    return 6 if spec.model.gated_ffn else 4


def routed_tokens(spec: JobSpec) -> int:
    """Copies of tokens that the experts of one GPU work through in one micro batch of one layer.

    Tokens spread evenly over experts are assumed; a capacity factor stretches the even share to what an expert takes at most. A GPU
    sends as many copies as it receives; a tensor group of experts works on the tokens of all its GPUs.
    """
    experts = spec.model.experts
    assert experts
    tokens = spec.local_sequence * spec.micro_batch // (spec.tensor if spec.sequence_parallel else 1)
    return round(tokens * experts.active * spec.expert_tensor * (spec.expert_capacity or 1))


def _expert_bytes(spec: JobSpec) -> int:
    """What a layer of experts keeps: its routed tokens before and behind the experts, the experts' inner tensors, the router's
    scores and their softmax in fp32, and the inner tensors of the experts that all tokens go to (megatron-core, transformer/moe)."""
    model, experts = spec.model, spec.model.experts
    assert experts
    tokens = spec.local_sequence * spec.micro_batch
    routed = routed_tokens(spec) * (4 * model.hidden + _inner(spec) * experts.hidden // spec.expert_tensor)
    scores = 8 * experts.count * tokens // (spec.tensor if spec.sequence_parallel else 1)
    return routed + scores + tokens * _inner(spec) * experts.shared * experts.hidden // spec.tensor


def stored_layer_bytes(spec: JobSpec, experts: bool = False) -> int:
    """What one layer keeps of one micro batch until its backward pass."""
    if spec.recompute == "full":
        return input_bytes(spec)
    return layer_bytes(spec, spec.recompute == "none" and not spec.flash_attention, experts)


def input_bytes(spec: JobSpec) -> int:
    """The tensor between two layers: 2sbh, cut by sequence parallelism."""
    return 2 * spec.local_sequence * spec.micro_batch * spec.model.hidden // (spec.tensor if spec.sequence_parallel else 1)


def working_bytes(spec: JobSpec, stage: int = 0) -> int:
    """The layer in its backward pass: what is recomputed of it (all with full recomputation, its attention matrices with
    selective), the gradient of its output, and those of the feed-forward's two inner tensors, which come first."""
    matrix = not spec.flash_attention
    ordinary, with_experts = stage_kinds(spec, stage)
    kinds = [kind for kind, layers in ((False, ordinary), (True, with_experts)) if layers] or [False]
    again = 0
    if spec.recompute == "full":
        again = max(layer_bytes(spec, matrix, kind) for kind in kinds)
    elif spec.recompute == "selective" and matrix:
        again = layer_bytes(spec, attention_matrix=True) - layer_bytes(spec, attention_matrix=False)
    return again + input_bytes(spec) + max(_inner_gradients(spec, kind) for kind in kinds)


def _inner_gradients(spec: JobSpec, experts: bool) -> int:
    if experts:
        assert spec.model.experts
        return 4 * routed_tokens(spec) * spec.model.experts.hidden // spec.expert_tensor
    return 4 * spec.local_sequence * spec.micro_batch * spec.model.ffn_hidden // spec.tensor


def micro_batches_in_flight(spec: JobSpec, stage: int) -> Fraction:
    """Micro batches whose activations a stage holds at its peak; a part of one where a stage holds it in some of its chunks only.

    One-forward-one-backward: stage i of p holds p - i micro batches (arXiv:2104.04473, section 2.2). With v chunks a stage it
    holds 2(p - i - 1) + (v - 1)p + 1 chunks, so that the first one holds L(1 + (p - 1)/(pv)) layers (arXiv:2205.05198,
    section 4.2.3). Never more than the step has micro batches. Chunks of a stage count as equal, on average.
    """
    p, v, micro_batches = spec.pipeline, spec.virtual, spec.micro_batches
    if v == 1:
        return Fraction(min(p - stage, micro_batches))
    return Fraction(min(2 * (p - stage - 1) + (v - 1) * p + 1, micro_batches * v), v)


def layers_in_flight(spec: JobSpec, stage: int) -> Fraction:
    """Layers times micro batches whose activations a stage holds at its peak."""
    return micro_batches_in_flight(spec, stage) * stage_layers(spec)[stage]


def stored_bytes(spec: JobSpec, stage: int) -> int:
    """Stored activations of all layers in flight on one GPU of ``stage``.

    DeepSpeed's pipeline engine also keeps the output of the stage for each micro batch in flight, and behind the first stage the
    received input, of which its layers get a copy (runtime/pipe/engine.py); Megatron lets both go.
    """
    ordinary, with_experts = stage_kinds(spec, stage)
    one = ordinary * stored_layer_bytes(spec) + (with_experts * stored_layer_bytes(spec, experts=True) if with_experts else 0)
    layers = round(micro_batches_in_flight(spec, stage) * one)
    if spec.framework == "deepspeed" and spec.pipeline > 1:
        ends = (stage > 0) + (stage < spec.pipeline - 1)
        layers += ends * min(spec.pipeline - stage, spec.micro_batches) * input_bytes(spec)
    return layers


def embedding_bytes(spec: JobSpec, stage: int) -> int:
    """First stage, with dropout: the mask behind the embedding, sbhp/t (arXiv:2205.05198, section 4.3)."""
    if stage or not spec.dropout:
        return 0
    return min(spec.pipeline, spec.micro_batches) * input_bytes(spec) // 2


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
