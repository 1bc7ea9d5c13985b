"""Memory of one GPU, by pipeline stage and by what takes it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StageMemory:
    """Bytes on each GPU of one pipeline stage."""

    stage: int
    layers: int
    weights: int
    gradients: int
    optimizer: int
    activations: int
    logits: int
    buffers: int

    @property
    def total(self) -> int:
        return self.weights + self.gradients + self.optimizer + self.activations + self.logits + self.buffers


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
