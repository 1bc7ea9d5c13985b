"""Exact parameter counts of decoder-only transformers, whole and cut by tensor and pipeline parallelism.

Two forms are known, told apart by the model's norm. ``rmsnorm`` is the Llama form (arXiv:2302.13971): no biases, rotary
positions. ``layernorm`` is the GPT form (arXiv:2104.04473, section 5.1): a bias at every matrix and norm, and a learned
position table as long as the job's sequence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from iacgen.catalog import Model
    from iacgen.training.spec import JobSpec


@dataclass(frozen=True)
class Parameters:
    """Parameter counts of a whole model; ``embedding`` includes a learned position table, ``head`` is 0 when it is tied."""

    layer: int
    layers: int
    embedding: int
    final_norm: int
    head: int

    @property
    def total(self) -> int:
        return self.layer * self.layers + self.embedding + self.final_norm + self.head

    @property
    def largest_module(self) -> int:
        """The largest piece that ZeRO stage 3 gathers at once: one layer, the embedding or the output layer."""
        return max(self.layer, self.embedding, self.head)


def count(model: Model, sequence: int) -> Parameters:
    """Parameters of a whole model; ``sequence`` is the length of the position table where the model learns one.

    With h hidden, a heads and k key-value heads of size d, f feed-forward, V vocabulary, s sequence, a layer of the Llama form
    has 2had + 2hkd + 3hf + 2h and the model 2Vh + h besides. The GPT form with k = a, ad = h, f = 4h comes to
    12Lh²(1 + 13/12h) + (V + s)h of arXiv:2104.04473, plus the 2h of the last norm, which the paper leaves out.
    """
    whole = _layer_shard(model, 1)
    gpt = _has_bias(model)
    table = model.vocabulary * model.hidden
    return Parameters(
        layer=whole,
        layers=model.layers,
        embedding=table + (sequence * model.hidden if gpt else 0),
        final_norm=model.hidden * (2 if gpt else 1),
        head=0 if model.tied_embeddings else table,
    )


def padded_vocabulary(vocabulary: int, tensor: int) -> int:
    """Rows of the embedding that Megatron allocates: the next multiple of 128 * tensor (its --make-vocab-size-divisible-by)."""
    step = 128 * tensor
    return -(-vocabulary // step) * step


def stage_layers(spec: JobSpec) -> tuple[int, ...]:
    """Transformer layers on each pipeline stage.

    Even, unless the embedding or the loss counts as a layer: then the first or the last stage has one layer less. The caller
    has made sure that the sum divides.
    """
    extra = spec.embedding_as_layer + spec.loss_as_layer
    per_stage = (spec.model.layers + extra) // spec.pipeline
    layers = [per_stage] * spec.pipeline
    layers[0] -= spec.embedding_as_layer
    layers[-1] -= spec.loss_as_layer
    return tuple(layers)


@dataclass(frozen=True)
class StageParameters:
    """Parameters that one GPU of one stage holds: in its layers, and in the embedding, last norm and output layer."""

    layers: int
    ends: int

    @property
    def total(self) -> int:
        return self.layers + self.ends


def shard(spec: JobSpec, stage: int) -> StageParameters:
    """Parameters on each GPU of ``stage``, before any sharding over data-parallel ranks.

    Matrices are cut by tensor parallelism, norms and the biases behind a row-parallel matrix are not (arXiv:1909.08053,
    section 3). With tied embeddings the last of several stages keeps a copy of the table, as Megatron does.
    """
    model, h = spec.model, spec.model.hidden
    gpt = _has_bias(model)
    vocabulary = padded_vocabulary(model.vocabulary, spec.tensor) if spec.framework == "megatron" else model.vocabulary
    table = vocabulary * h // spec.tensor
    first, last = stage == 0, stage == spec.pipeline - 1
    ends = 0
    if first:
        ends += table + (spec.sequence * h if gpt else 0)
    if last:
        ends += h * (2 if gpt else 1)
        if not (model.tied_embeddings and first):
            ends += table
    return StageParameters(layers=stage_layers(spec)[stage] * _layer_shard(model, spec.tensor), ends=ends)


def _layer_shard(model: Model, tensor: int) -> int:
    """Parameters of one layer on one tensor-parallel rank. Fewer key-value heads than ranks: each rank keeps one whole."""
    h, f, d = model.hidden, model.ffn_hidden, model.head_dim
    queries = model.heads * d // tensor
    keys_values = 2 * d * max(model.kv_heads // tensor, 1)
    matrices = h * (queries + keys_values) + queries * h + (3 if model.gated_ffn else 2) * h * f // tensor
    if not _has_bias(model):
        return matrices + 2 * h
    cut = queries + keys_values + (2 if model.gated_ffn else 1) * f // tensor
    return matrices + cut + 2 * h + 4 * h


def _has_bias(model: Model) -> bool:
    return model.norm == "layernorm"
