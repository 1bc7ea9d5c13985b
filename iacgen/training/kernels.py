"""Seconds that one GPU computes on one micro batch: a layer, the embedding, the output layer; forward, backward, repeated.

Three kinds of kernel. Matrix products take their operations at a share of the dense peak, rounded up to whole tiles and whole waves
of tiles over the multiprocessors, and their operands' bytes besides (NVIDIA, Matrix Multiplication Background User's Guide,
sections 2 and 3). Flash attention takes the operations of its causal half. All others move bytes. Bytes are those of bf16 tensors,
two an element; h hidden, f feed-forward.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING

from iacgen.training.parameters import padded_vocabulary

if TYPE_CHECKING:
    from iacgen.catalog import Gpu
    from iacgen.training.assume import Assumptions
    from iacgen.training.spec import JobSpec

TILES = ((256, 128, 1.0), (128, 256, 1.0), (128, 128, 0.93))
"""Rows and columns of cuBLAS's larger tiles, and their rate: a smaller tile loads more for each operation (same guide, section 2.3;
the 0.93 is assumed)."""

ALIGNED = 64
"""Elements: sides that are multiples of 128 bytes are the fastest (same guide, section 2.2)."""

FP8_RATE = 2.0
"""Matrix rate of fp8 over that of bf16 (NVIDIA H100 data sheet; ahead of it stands Transformer Engine's cast of both operands)."""


@dataclass(frozen=True)
class Kernels:
    """Seconds of matrix products, of attention, and of kernels that only move data."""

    matmul: float = 0.0
    attention: float = 0.0
    memory: float = 0.0

    def __add__(self, other: Kernels) -> Kernels:
        return Kernels(self.matmul + other.matmul, self.attention + other.attention, self.memory + other.memory)

    def __mul__(self, times: float) -> Kernels:
        return Kernels(self.matmul * times, self.attention * times, self.memory * times)

    @property
    def total(self) -> float:
        return self.matmul + self.attention + self.memory


@dataclass(frozen=True)
class Passes:
    """The passes of one micro batch through one piece of the model; ``repeated`` is what recomputation adds."""

    forward: Kernels = Kernels()
    backward: Kernels = Kernels()
    repeated: Kernels = Kernels()

    def __add__(self, other: Passes) -> Passes:
        return Passes(self.forward + other.forward, self.backward + other.backward, self.repeated + other.repeated)

    def __mul__(self, times: float) -> Passes:
        return Passes(self.forward * times, self.backward * times, self.repeated * times)

    @property
    def total(self) -> float:
        return self.forward.total + self.backward.total + self.repeated.total


@dataclass(frozen=True)
class Rates:
    """What one GPU reaches under the assumptions: operations and bytes a second."""

    matmul: float
    attention: float
    hbm: float
    misaligned: float
    units: int | None
    moving: float
    low_precision: float


def rates(spec: JobSpec) -> Rates:
    """The rates of the job's GPU; kernels are fused in Megatron alone."""
    return _rates(spec.gpu, spec.assume, spec.framework == "megatron", spec.fp8)


@lru_cache(maxsize=256)
def _rates(gpu: Gpu, stated: Assumptions, fused: bool, fp8: bool) -> Rates:
    assume, peak = stated.of(gpu), gpu.bf16_tflops * 1e12
    assert assume.matmul and assume.attention and assume.unfused
    return Rates(
        matmul=peak * assume.matmul, attention=peak * assume.attention, hbm=gpu.hbm_tbps * 1e12 * assume.hbm, misaligned=assume.misaligned,
        units=gpu.multiprocessors, moving=gpu.hbm_tbps * 1e12 * (assume.hbm if fused else assume.unfused), low_precision=FP8_RATE if fp8 else 1.0,
    )  # fmt: skip


@lru_cache(maxsize=65536)
def matmul_s(m: int, n: int, k: int, batch: int, speed: Rates, low: bool = False) -> float:
    """``batch`` products of an m x k with a k x n matrix; ``low`` in the job's low precision."""
    if speed.units:
        waves = ((ceil(batch * ceil(m / rows) * ceil(n / columns) / speed.units), rows * columns, rate) for rows, columns, rate in TILES)
        flops = min(2 * count * speed.units * tile * k / rate for count, tile, rate in waves)
    else:
        flops = 2 * batch * m * n * k
    rate = speed.matmul * (speed.low_precision if low else 1.0)
    if m % ALIGNED or n % ALIGNED or k % ALIGNED:
        rate *= speed.misaligned
    return flops / rate + 2 * batch * (m * k + k * n + m * n) / speed.hbm


def products(shapes: Iterable[tuple[int, int, int, int]], speed: Rates, low: bool = False) -> Passes:
    """Matrices (rows, columns out, columns in, batch): once forward, and backward for the gradients of inputs and of weights."""
    forward = backward = 0.0
    for m, n, k, batch in shapes:
        forward += matmul_s(m, n, k, batch, speed, low)
        backward += matmul_s(m, k, n, batch, speed, low) + matmul_s(n, k, m, batch, speed, low)
    return Passes(Kernels(matmul=forward), Kernels(matmul=backward))


def moved(forward: float, backward: float, speed: Rates) -> Passes:
    """Kernels that move this many bytes in each pass."""
    return Passes(Kernels(memory=forward / speed.moving), Kernels(memory=backward / speed.moving))


def layer(spec: JobSpec, experts: bool) -> Passes:
    """One layer on one micro batch, with experts in place of the feed-forward or not."""
    speed = rates(spec)
    core = _core(spec, speed)
    whole = _projections(spec, speed) + core + _around(spec, speed) + (_experts(spec, speed) if experts else _feed_forward(spec, spec.model.ffn_hidden, speed))
    if spec.recompute == "full":
        return Passes(whole.forward, whole.backward, whole.forward)
    return Passes(whole.forward, whole.backward, core.forward) if spec.recompute == "selective" else whole


def _tokens(spec: JobSpec) -> int:
    return spec.local_sequence * spec.micro_batch


def _projections(spec: JobSpec, speed: Rates) -> Passes:
    """The matrices into and out of attention, and their reshapes or rotary positions (read and written once each way)."""
    tokens = _tokens(spec)
    sizes = tuple(_attention_matrices(spec))
    wide = sum(n for n, _ in sizes[:-1])
    return products([(tokens, n, k, 1) for n, k in sizes], speed, low=True) + moved(4 * tokens * wide, 4 * tokens * wide + _summed(spec, sum(n * k for n, k in sizes)), speed)


def _summed(spec: JobSpec, weights: int) -> float:
    """Bytes that adding the gradients of ``weights`` weights to those of earlier micro batches moves. Megatron adds inside the product:
    the sum is read and written. Else the product's bf16 result is read besides; shards (ZeRO 2 and 3, FSDP) copy it into a bucket."""
    wide = 4 if spec.gradients == "fp32" else 2
    if spec.framework == "megatron":
        return 2 * wide * weights
    return (4 if spec.zero >= 2 else 2 + 2 * wide) * weights


def _attention_matrices(spec: JobSpec) -> Iterator[tuple[int, int]]:
    """Columns out and in on one tensor-parallel rank; the last one leads out of attention."""
    model, t = spec.model, spec.tensor
    heads = max(model.heads // t, 1)
    if model.latent:
        latent, query = model.latent, model.latent.query_rank
        if query:
            yield query, model.hidden
        yield heads * (model.head_dim + latent.rope_dim), query or model.hidden
        yield latent.kv_rank + latent.rope_dim, model.hidden
        yield heads * (model.head_dim + latent.value_dim), latent.kv_rank
        yield model.hidden, heads * latent.value_dim
    else:
        yield (heads + 2 * max(model.kv_heads // t, 1)) * model.head_dim, model.hidden
        yield model.hidden, heads * model.head_dim


def _core(spec: JobSpec, speed: Rates) -> Passes:
    """Attention itself. Flash: the causal half, 2.5 times as much backward (arXiv:2307.08691, section 4.1). Else two products for each
    head forward and four backward, over whole matrices, and a softmax (4 bytes read and written an element, 6 backward) with its
    dropout (5 more each way)."""
    model, s = spec.model, spec.sequence
    heads, rows = max(model.heads // spec.tensor, 1), spec.local_sequence
    keys = model.head_dim + (model.latent.rope_dim if model.latent else 0)
    values = model.latent.value_dim if model.latent else model.head_dim
    if spec.flash_attention:
        seconds = heads * spec.micro_batch * rows * s * (keys + values) / speed.attention
        return Passes(Kernels(attention=seconds), Kernels(attention=2.5 * seconds))
    batch = heads * spec.micro_batch
    elements = batch * rows * s
    dropout = 5 * elements if spec.dropout else 0
    bytes_forward, bytes_backward = 4 * elements + dropout, 6 * elements + dropout
    return products(((rows, s, keys, batch), (rows, values, s, batch)), speed) + moved(bytes_forward, bytes_backward, speed)


def _around(spec: JobSpec, speed: Rates) -> Passes:
    """Norms, residual sums, dropout: of h elements a token, cut by sequence parallelism alone.

    Forward, two norms (4h each) and two sums (6h each); backward 10h for each norm with its weights' gradient and 10h for each sum and the
    gradient that joins it. Dropout masks add h each, biases 2h each backward.
    """
    elements = _tokens(spec) * spec.model.hidden // (spec.tensor if spec.sequence_parallel else 1)
    mask, bias = (2 if spec.dropout else 0), (4 if spec.model.bias == "all" else 0)
    return moved((20 + mask) * elements, (40 + mask + bias) * elements, speed)


def _feed_forward(spec: JobSpec, size: int, speed: Rates) -> Passes:
    """Two matrices, three when gated, and the activation between them; cut by tensor parallelism."""
    tokens, inner, gated = _tokens(spec), size // spec.tensor, spec.model.gated_ffn
    shapes = ((tokens, (2 if gated else 1) * inner, spec.model.hidden, 1), (tokens, spec.model.hidden, inner, 1))
    weights = (3 if gated else 2) * inner * spec.model.hidden
    return products(shapes, speed, low=True) + moved(0, _summed(spec, weights), speed) + _activation(tokens * inner, gated, spec.model.bias == "all", speed)


def _activation(elements: int, gated: bool, bias: bool, speed: Rates) -> Passes:
    """GELU reads and writes f elements (4f bytes, 6f backward), SwiGLU reads two for each that it writes (6f, 10f)."""
    forward, backward = (6, 10) if gated else (4, 6)
    return moved(forward * elements, (backward + (2 if bias else 0)) * elements, speed)


def _experts(spec: JobSpec, speed: Rates) -> Passes:
    """Router, experts that all tokens go to, and the routed ones in even shares: k copies of each token go through one expert.

    Each copy is read and written once on its way to the experts and once back.
    """
    model, experts = spec.model, spec.model.experts
    assert experts
    own = max(_tokens(spec) // spec.tensor, 1)  # tokens of this rank alone
    copies = own * spec.expert_tensor * experts.active
    local = max(experts.count // spec.expert, 1)
    rows, inner, gated = max(ceil(copies / local), 1), experts.hidden // spec.expert_tensor, model.gated_ffn
    routed = products(((rows, (2 if gated else 1) * inner, model.hidden, local), (rows, model.hidden, inner, local)), speed, low=True)
    ways = moved(8 * copies * model.hidden, 8 * copies * model.hidden, speed)
    router = products(((own, experts.count, model.hidden, 1),), speed)
    shared = _feed_forward(spec, experts.shared * experts.hidden, speed) if experts.shared else Passes()
    ways += moved(0, _summed(spec, local * (3 if gated else 2) * inner * model.hidden), speed)
    return router + routed + ways + _activation(copies * inner, gated, model.bias == "all", speed) + shared


def embedding(spec: JobSpec) -> Passes:
    """Rows of the table read and written, their gradients added."""
    elements = _tokens(spec) * spec.model.hidden
    return moved(4 * elements, 6 * elements, rates(spec))


def output_layer(spec: JobSpec) -> Passes:
    """Last norm, output matrix and loss. Unfused, the loss goes over fp32 logits about a dozen times, 50 bytes each in all; fused it
    reads the logits and writes their gradient, with fp32 sums 14."""
    speed, tokens = rates(spec), _tokens(spec)
    vocabulary = spec.model.vocabulary
    if spec.framework == "megatron":
        vocabulary = padded_vocabulary(vocabulary, spec.tensor)
    columns = max(vocabulary // spec.tensor, 1)
    matrix = products(((tokens, columns, spec.model.hidden, 1),), speed)
    each = 14 if spec.fused_loss else 50
    loss = Passes(Kernels(memory=each * tokens * columns / speed.hbm / 2), Kernels(memory=each * tokens * columns / speed.hbm / 2))
    return matrix + loss
