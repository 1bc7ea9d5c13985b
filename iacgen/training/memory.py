"""Memory of one GPU, by pipeline stage and by what takes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from iacgen.training.activations import embedding_bytes, input_bytes, logits_bytes, routed_tokens, stored_bytes, working_bytes
from iacgen.training.parameters import shard, stage_kinds, stage_layers
from iacgen.training.states import state_bytes, sums_over_pipeline
from iacgen.training.zero import bucket_bytes

if TYPE_CHECKING:
    from iacgen.training.parameters import StageParameters
    from iacgen.training.spec import JobSpec

GIB = 2**30
LINES = ("weights", "gradients", "optimizer", "step", "buffers", "working", "logits", "activations")
"""What takes memory, fixed costs first: the line at which the sum passes the capacity is the one that breaks a job."""


@dataclass(frozen=True)
class StageMemory:
    """Bytes on each GPU of one pipeline stage.

    ``step`` is what the optimizer needs while it works, ``buffers`` what communication needs, ``working`` the layer in its
    backward pass, ``logits`` the output layer's tensors on the last stage. All count together, though not all of them are in use at
    the same time: PyTorch keeps the blocks of freed tensors, and many small ones make no large one.
    """

    stage: int
    layers: int
    weights: int
    gradients: int
    optimizer: int
    step: int
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
    held = shard(spec, stage)
    states = state_bytes(spec, held.dense, held.experts)
    return StageMemory(
        stage=stage,
        layers=stage_layers(spec)[stage],
        weights=states.weights + fp8_bytes(spec, held),
        gradients=states.gradients,
        optimizer=states.optimizer,
        step=states.step,
        buffers=buffer_bytes(spec, stage),
        working=working_bytes(spec, stage),
        logits=logits_bytes(spec) if stage == spec.pipeline - 1 else 0,
        activations=stored_bytes(spec, stage) + embedding_bytes(spec, stage),
    )


def fp8_bytes(spec: JobSpec, held: StageParameters) -> int:
    """What fp8 keeps beside the bf16 weights of the layers: each once in fp8 and, where the GPU multiplies by rows alone (below
    compute capability 10), once more transposed, from the first micro batch of a step to the last (megatron-core,
    extensions/transformer_engine.py, is_first_microbatch). Inputs that are kept in fp8 would save some of it; they count as bf16."""
    if not spec.fp8:
        return 0
    return (2 if float(spec.gpu.compute_capability or 0) < 10 else 1) * (held.layers + held.experts)


def buffer_bytes(spec: JobSpec, stage: int = 0) -> int:
    """Communication: the framework's own buffers; four tensors under way between pipeline stages; the gathered input and its
    gradient with sequence parallelism; two pairs of keys and values in the ring of context parallelism, with FSDP those of all ranks
    and two pairs of fp32 gradients (PyTorch, _context_parallel/_attention.py); routed tokens on their way
    to the experts and back; NCCL's own inside the node."""
    model, tokens = spec.model, spec.local_sequence * spec.micro_batch
    out = nccl_bytes(spec) + FRAMEWORK_BUFFERS[spec.framework](spec, stage)
    if spec.pipeline > 1:
        out += 4 * input_bytes(spec)
    if spec.sequence_parallel:
        out += 2 * 2 * tokens * model.hidden
    if spec.context > 1:
        pairs = spec.context + 2 * 2 if spec.framework == "fsdp" else 2
        out += pairs * 4 * tokens * max(model.kv_heads // spec.tensor, 1) * model.head_dim
    if model.experts and stage_kinds(spec, stage)[1]:
        out += 2 * 2 * routed_tokens(spec) * model.hidden
    return out


def nccl_bytes(spec: JobSpec) -> int:
    """What NCCL takes for each kind of group that lies inside a node: 688 MiB, 544 where it has two GPUs.

    Measured with one all-reduce in groups of four A100 over NVLink (NVIDIA/nccl issue 964). Groups across nodes have fewer channels, one
    for each adapter, and were not measured: they are part of what is kept free.
    """
    inside, out = 1, 0
    for size in (spec.tensor, spec.context, spec.data_parallel, spec.pipeline):
        inside *= size
        if size > 1 and inside <= spec.gpus_per_node:
            out += (544 if size == 2 else 688) << 20
    return out


def _megatron_buffers(spec: JobSpec, stage: int) -> int:
    """Gradients are reduced where they are summed. Those of matrices are added to the sum as they are computed, that of the
    embedding lies beside it first (megatron-core, gradient_accumulation_fusion)."""
    return 2 * spec.model.vocabulary * spec.model.hidden // spec.tensor if stage == 0 else 0


def _fsdp_buffers(spec: JobSpec, stage: int) -> int:
    """What PyTorch's FSDP gathers: the bf16 weights of one block and of the next that is fetched meanwhile, and those of the embedding
    and the output layer, which stay. Their gradients: bf16, and once more in the type that they are reduced in."""
    held, layers = shard(spec, stage), max(stage_layers(spec)[stage], 1)
    block, reduced = (held.layers + held.experts) // layers, 4 if spec.gradients == "fp32" else 2
    gathered = 0 if spec.zero < 3 or sums_over_pipeline(spec) else 2 * 2 * block + 2 * held.ends
    return gathered + (2 + reduced) * max(block, held.ends)


FRAMEWORK_BUFFERS = {"megatron": _megatron_buffers, "deepspeed": bucket_bytes, "fsdp": _fsdp_buffers}
