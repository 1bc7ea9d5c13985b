"""Memory of one GPU, by pipeline stage and by what takes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from iacgen.training.activations import input_bytes, logits_bytes, stored_bytes, working_bytes
from iacgen.training.parameters import shard, stage_layers
from iacgen.training.zero import bucket_bytes

if TYPE_CHECKING:
    from iacgen.training.spec import JobSpec

GIB = 2**30
LINES = ("weights", "gradients", "optimizer", "buffers", "working", "logits", "activations")
"""What takes memory, fixed costs first: the line at which the sum passes the capacity is the one that breaks a job."""


@dataclass(frozen=True)
class StageMemory:
    """Bytes on each GPU of one pipeline stage.

    ``buffers`` is what communication needs, ``working`` the layer that is being recomputed, ``logits`` the output layer's
    tensors on the last stage.
    """

    stage: int
    layers: int
    weights: int
    gradients: int
    optimizer: int
    buffers: int
    working: int
    logits: int
    activations: int

    @property
    def total(self) -> int:
        return sum(getattr(self, line) for line in LINES)


@dataclass(frozen=True)
class MemoryTable:
    """All stages of a job against the memory of its GPU, in bytes; ``context_bytes`` is kept free for the driver."""

    stages: tuple[StageMemory, ...]
    memory_bytes: int
    context_bytes: int

    @property
    def capacity(self) -> int:
        """Bytes that the job may use."""
        return self.memory_bytes - self.context_bytes

    @property
    def worst(self) -> StageMemory:
        """The stage that needs most; the first of equals."""
        return max(self.stages, key=lambda s: s.total)

    @property
    def fits(self) -> bool:
        return self.worst.total <= self.capacity

    @property
    def breaking_line(self) -> str | None:
        """The line at which the worst stage passes the capacity, summed in the order of LINES; None when the job fits."""
        used = 0
        for line in LINES:
            used += getattr(self.worst, line)
            if used > self.capacity:
                return line
        return None

    def rows(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """One row a line and a last one for the total: its name and the bytes on each stage."""
        lines = tuple((line, tuple(getattr(stage, line) for stage in self.stages)) for line in LINES)
        return (*lines, ("total", tuple(stage.total for stage in self.stages)))


def table(spec: JobSpec) -> MemoryTable:
    """The memory table of a job whose batch arithmetic is sound."""
    return MemoryTable(
        stages=tuple(stage_memory(spec, stage) for stage in range(spec.pipeline)),
        memory_bytes=round(spec.gpu.memory_gib * GIB),
        context_bytes=round(spec.gpu.context_gib * GIB),
    )


def stage_memory(spec: JobSpec, stage: int) -> StageMemory:
    """One stage of the table."""
    weights, gradients, optimizer = state_bytes(spec, shard(spec, stage).total)
    return StageMemory(
        stage=stage,
        layers=stage_layers(spec)[stage],
        weights=weights,
        gradients=gradients,
        optimizer=optimizer,
        buffers=buffer_bytes(spec),
        working=working_bytes(spec),
        logits=logits_bytes(spec) if stage == spec.pipeline - 1 else 0,
        activations=stored_bytes(spec, stage),
    )


def state_bytes(spec: JobSpec, parameters: int) -> tuple[int, int, int]:
    """Weights, gradients and optimizer of ``parameters`` parameters on one GPU, in bytes.

    bf16 weights 2, gradients 2 (bf16) or 4 (fp32), Adam in fp32: master weights 4 and two moments 8. Megatron's distributed
    optimizer shards the optimizer over data-parallel and context-parallel ranks together. ZeRO (arXiv:1910.02054) shards over
    the same ranks: the optimizer from stage 1 on, gradients from 2 on, weights at 3. For its step DeepSpeed turns bf16 gradients
    into fp32, 4 more; stage 3 does so piece by piece, and DeepSpeed's estimate leaves 2 for it. Both estimates
    (estimate_zero2_model_states_mem_needs and its sister) come to 18 sharded bytes.
    """
    ranks = spec.data_parallel * spec.context
    gradient = 4 if spec.gradients == "fp32" else 2
    if spec.framework == "megatron":
        return 2 * parameters, gradient * parameters, _share(12 * parameters, ranks if spec.distributed_optimizer else 1)
    step = 0 if spec.gradients == "fp32" else 2 if spec.zero == 3 else 4
    weights, gradients, optimizer = (ranks if spec.zero >= stage else 1 for stage in (3, 2, 1))
    return _share(2 * parameters, weights), _share(gradient * parameters, gradients), _share((12 + step) * parameters, optimizer)


def buffer_bytes(spec: JobSpec) -> int:
    """Communication: ZeRO's buckets; four tensors under way between pipeline stages; the gathered input and its gradient
    with sequence parallelism; two pairs of keys and values in the ring of context parallelism. Megatron reduces gradients in
    place. NCCL's own memory is part of what is kept free."""
    model, tokens = spec.model, spec.local_sequence * spec.micro_batch
    out = 0
    if spec.framework == "deepspeed":
        out += bucket_bytes(spec)
    if spec.pipeline > 1:
        out += 4 * input_bytes(spec)
    if spec.sequence_parallel:
        out += 2 * 2 * tokens * model.hidden
    if spec.context > 1:
        out += 2 * 4 * tokens * max(model.kv_heads // spec.tensor, 1) * model.head_dim
    return out


def _share(total: int, ranks: int) -> int:
    return -(-total // ranks)
