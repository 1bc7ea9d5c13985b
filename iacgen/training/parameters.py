"""Exact parameter counts of decoder-only transformers, whole and cut by tensor, pipeline and expert parallelism.

Known forms: the GPT form (arXiv:2104.04473, section 5.1: biases everywhere, a learned position table), the Llama form
(arXiv:2302.13971: no biases, rotary positions, gated feed-forward), BLOOM's (arXiv:2211.05100: no positions in the weights, a norm
behind the embedding), experts in place of the feed-forward (arXiv:2401.04088) and latent attention with shared experts
(arXiv:2412.19437). The model's numbers say which of them meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from iacgen.catalog import Shape
    from iacgen.training.spec import JobSpec


@dataclass(frozen=True)
class Parameters:
    """Parameter counts of a whole model. ``embedding`` includes a learned position table, ``head`` is 0 when it is tied.

    ``layer`` is a layer with an ordinary feed-forward and ``expert_layer`` one with experts, of which ``active_layer`` work on one
    token; both are 0 where the model has none of that kind.
    """

    layer: int
    layers: int
    expert_layer: int
    active_layer: int
    expert_layers: int
    embedding: int
    final_norm: int
    head: int

    @property
    def total(self) -> int:
        return self._ends + self.layer * self.layers + self.expert_layer * self.expert_layers

    @property
    def active(self) -> int:
        """Those that work on one token, the embedding and the output layer among them."""
        return self._ends + self.layer * self.layers + self.active_layer * self.expert_layers

    @property
    def largest_module(self) -> int:
        """The largest piece that ZeRO stage 3 gathers at once: one layer, the embedding or the output layer."""
        return max(self.layer, self.expert_layer, self.embedding, self.head)

    @property
    def _ends(self) -> int:
        return self.embedding + self.final_norm + self.head


def count(model: Shape, sequence: int) -> Parameters:
    """Parameters of a whole model that is trained on sequences of ``sequence`` tokens.

    With h hidden, a heads and k key-value heads of size d, f feed-forward, V vocabulary, a layer of the Llama form
    has 2had + 2hkd + 3hf + 2h and the model 2Vh + h besides. The GPT form with k = a, ad = h, f = 4h comes to
    12Lh²(1 + 13/12h) + (V + s)h of arXiv:2104.04473, plus the 2h of the last norm, which the paper leaves out.
    """
    table, experts = model.vocabulary * model.hidden, model.experts
    with_experts = model.layers - experts.dense_layers if experts else 0
    shared = _attention(model, 1) + _layer_norms(model)
    one = _expert(model, 1) if experts else 0
    around = shared + _around_experts(model, 1) if experts else 0
    return Parameters(
        layer=shared + _feed_forward(model, model.ffn_hidden, 1) if with_experts < model.layers else 0,
        layers=model.layers - with_experts,
        expert_layer=around + experts.count * one if experts else 0,
        active_layer=around + experts.active * one if experts else 0,
        expert_layers=with_experts,
        embedding=table + position_rows(model, sequence) * model.hidden + (_norm(model) if model.embedding_norm else 0),
        final_norm=_norm(model),
        head=0 if model.tied_embeddings else table,
    )


def position_rows(model: Shape, sequence: int) -> int:
    """Rows of a learned position table: as many as the longer of the model's and the job's sequence has tokens."""
    return max(sequence, model.max_sequence) if model.positions == "learned" else 0


def padded_vocabulary(vocabulary: int, tensor: int) -> int:
    """Rows of the embedding that Megatron allocates: the next multiple of 128 * tensor (its --make-vocab-size-divisible-by)."""
    step = 128 * tensor
    return -(-vocabulary // step) * step


def stage_layers(spec: JobSpec) -> tuple[int, ...]:
    """Transformer layers on each pipeline stage.

    Even, unless the embedding or the loss counts as a layer: then the first or the last stage has one layer less. Or the first or
    the last stage has a number of its own, and the others share the rest. The caller has made sure that the sum divides. DeepSpeed
    balances the layers of a type (runtime/utils.py, partition_balanced): what is left over goes to the first stages.
    """
    ends = spec.embedding_as_layer or spec.loss_as_layer or spec.first_layers is not None or spec.last_layers is not None
    if spec.framework == "deepspeed" and not ends:  # a script of its own may count them, as BLOOM's did
        each, more = divmod(spec.model.layers, spec.pipeline)
        return tuple(each + (stage < more) for stage in range(spec.pipeline))
    if spec.first_layers is None and spec.last_layers is None:
        extra = spec.embedding_as_layer + spec.loss_as_layer
        layers = [(spec.model.layers + extra) // spec.pipeline] * spec.pipeline
        layers[0] -= spec.embedding_as_layer
        layers[-1] -= spec.loss_as_layer
        return tuple(layers)
    own = [n for n in (spec.first_layers, spec.last_layers) if n is not None]
    others = max(spec.pipeline - len(own), 1)
    layers = [(spec.model.layers - sum(own)) // others] * spec.pipeline
    if spec.first_layers is not None:
        layers[0] = spec.first_layers
    if spec.last_layers is not None:
        layers[-1] = spec.last_layers
    return tuple(layers)


def stage_kinds(spec: JobSpec, stage: int) -> tuple[int, int]:
    """Layers of a stage with an ordinary feed-forward, and those with experts. The ordinary ones are the model's first."""
    layers = stage_layers(spec)
    before, here = sum(layers[:stage]), layers[stage]
    dense = spec.model.experts.dense_layers if spec.model.experts else spec.model.layers
    ordinary = min(max(dense - before, 0), here)
    return ordinary, here - ordinary


@dataclass(frozen=True)
class StageParameters:
    """Parameters that one GPU of one stage holds: in its layers without their routed experts, in these experts, and in the
    embedding, last norm and output layer."""

    layers: int
    experts: int
    ends: int

    @property
    def dense(self) -> int:
        """All but the experts: what every data-parallel and context-parallel rank has alike."""
        return self.layers + self.ends

    @property
    def total(self) -> int:
        return self.layers + self.experts + self.ends


def shard(spec: JobSpec, stage: int) -> StageParameters:
    """Parameters on each GPU of ``stage``, before any sharding over data-parallel ranks.

    Matrices are cut by tensor parallelism, norms and the biases behind a row-parallel matrix are not (arXiv:1909.08053,
    section 3); routed experts are dealt out over expert-parallel ranks and cut by their own tensor size. With tied embeddings the
    last of several stages keeps a copy of the table, as Megatron does.
    """
    model, h, t = spec.model, spec.model.hidden, spec.tensor
    ordinary, with_experts = stage_kinds(spec, stage)
    layers = (ordinary + with_experts) * (_attention(model, t) + _layer_norms(model))
    layers += ordinary * _feed_forward(model, model.ffn_hidden, t)
    experts = 0
    if model.experts and with_experts:
        layers += with_experts * _around_experts(model, t)
        experts = with_experts * (model.experts.count // spec.expert) * _expert(model, spec.expert_tensor)
    vocabulary = padded_vocabulary(model.vocabulary, t) if spec.framework == "megatron" else model.vocabulary
    table = vocabulary * h // t
    first, last = stage == 0, stage == spec.pipeline - 1
    ends = 0
    if first:
        ends += table + position_rows(model, spec.sequence) * h + (_norm(model) if model.embedding_norm else 0)
    if last:
        ends += _norm(model)
        if not (model.tied_embeddings and first):
            ends += table
    return StageParameters(layers, experts, ends)


def largest_tensor(spec: JobSpec, stage: int) -> int:
    """Elements of the largest single parameter on a GPU of ``stage``: the embedding's or output layer's part, or a matrix of a layer.

    Queries, keys and values are one matrix, and so are the two inputs of a gated feed-forward, as in Megatron.
    """
    model, h, t = spec.model, spec.model.hidden, spec.tensor
    inputs = 2 if model.gated_ffn else 1
    ordinary, with_experts = stage_kinds(spec, stage)
    tensors = [h * model.head_dim * (model.heads // t + 2 * max(model.kv_heads // t, 1))]
    if ordinary:
        tensors.append(inputs * h * model.ffn_hidden // t)
    if model.experts and with_experts:
        tensors.append(inputs * h * model.experts.hidden // spec.expert_tensor)
    if stage in (0, spec.pipeline - 1):
        tensors.append(h * model.vocabulary // t)
    return max(tensors)


def _norm(model: Shape) -> int:
    """A layer norm has a bias where the matrices have one."""
    return model.hidden * (2 if model.norm == "layernorm" and model.bias == "all" else 1)


def _layer_norms(model: Shape) -> int:
    return 2 * _norm(model)


def _attention(model: Shape, tensor: int) -> int:
    """Attention of one layer on one tensor-parallel rank. Fewer key-value heads than ranks: each rank keeps one whole.

    Latent attention (arXiv:2412.19437, section 2.1.1): the matrices into the narrow vectors and the norms of these are whole on every
    rank (megatron-core, multi_latent_attention), those out of them are cut by heads.
    """
    h, d, latent = model.hidden, model.head_dim, model.latent
    heads = model.heads // tensor
    out_bias = h if model.bias == "all" else 0
    if latent:
        query = latent.query_rank
        narrow = h * (latent.kv_rank + latent.rope_dim) + latent.kv_rank + (h * query + query if query else 0)
        wide = heads * ((query or h) * (d + latent.rope_dim) + latent.kv_rank * (d + latent.value_dim) + latent.value_dim * h)
        return narrow + wide + out_bias
    queries, keys_values = heads * d, 2 * d * max(model.kv_heads // tensor, 1)
    biases = 0 if model.bias == "none" else queries + keys_values + out_bias
    return h * (queries + keys_values) + queries * h + biases


def _feed_forward(model: Shape, size: int, tensor: int) -> int:
    """Two matrices, three when gated, with their biases; all but the last bias cut."""
    inputs = 2 if model.gated_ffn else 1
    biases = inputs * size // tensor + model.hidden if model.bias == "all" else 0
    return (inputs + 1) * model.hidden * size // tensor + biases


def _expert(model: Shape, tensor: int) -> int:
    assert model.experts
    return _feed_forward(model, model.experts.hidden, tensor)


def _around_experts(model: Shape, tensor: int) -> int:
    """The router, whole on every rank, and the experts that all tokens go to, cut like an ordinary feed-forward."""
    experts = model.experts
    assert experts
    router = (model.hidden + experts.router_bias) * experts.count
    return router + (_feed_forward(model, experts.shared * experts.hidden, tensor) if experts.shared else 0)
