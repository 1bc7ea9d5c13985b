"""From a job's numbers to its plan: arithmetic, parameters, memory, traffic, checkpoint. The one entry of the training room."""

from __future__ import annotations

from dataclasses import dataclass

from iacgen.training.memory import MemoryTable
from iacgen.training.parameters import Parameters
from iacgen.training.spec import JobSpec
from iacgen.training.traffic import NodeGrid, Traffic


@dataclass(frozen=True)
class Job:
    """A job that adds up and fits.

    ``micro_batches`` is the gradient accumulation. ``grid`` is the job's shape in nodes and ``traffic`` what its nodes send
    each other in one step; placement needs nothing else. ``checkpoint_write_bytes_per_s`` is None when no time to save is
    promised.
    """

    spec: JobSpec
    parameters: Parameters
    world: int
    data_parallel: int
    micro_batches: int
    memory: MemoryTable
    grid: NodeGrid
    traffic: Traffic
    checkpoint_bytes: int
    checkpoint_write_bytes_per_s: float | None

    @property
    def name(self) -> str:
        return self.spec.name
