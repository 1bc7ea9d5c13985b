"""What a job keeps in the memory and on the NVMe of each node instead of on its GPUs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from iacgen.training.parameters import shard
from iacgen.training.states import SUB_GROUP, ranks

if TYPE_CHECKING:
    from iacgen.training.spec import JobSpec

BUFFER_FACTOR = 1.5
"""DeepSpeed's additional_buffer_factor: pinned copies and buffers beside what is offloaded (estimate_zero3_model_states_mem_needs)."""

OPTIMIZER_BUFFERS = 4
WEIGHT_BUFFERS = (5, 100_000_000)
"""DeepSpeed's defaults for NVMe: buffer_count of offload_optimizer, buffer_count and buffer_size in elements of offload_param."""


@dataclass(frozen=True)
class HostMemory:
    """Bytes on each node, and the room that its catalog entry has for them; None where that is unknown."""

    memory_bytes: int
    nvme_bytes: int
    memory_room: int | None
    nvme_room: int | None

    @property
    def fits(self) -> bool:
        """Whether nothing known speaks against it."""
        memory = self.memory_room is None or self.memory_bytes <= self.memory_room
        return memory and (self.nvme_room is None or self.nvme_bytes <= self.nvme_room)


def host_memory(spec: JobSpec) -> HostMemory | None:
    """What offload takes on a node, were all its GPUs of the largest stage; None where nothing is offloaded.

    The optimizer's part is 16 bytes for each parameter of a GPU's share: fp32 weights, two moments and gradients, which the CPU
    updates; weights are 2 more, in FSDP they are the fp32 ones already counted. On NVMe they leave buffers in the memory.
    """
    if spec.offload_optimizer == spec.offload_weights == "none":
        return None
    same, alike = ranks(spec)
    held = [shard(spec, stage) for stage in range(spec.pipeline)]
    share = max(-(-part.dense // same) + -(-part.experts // alike) for part in held)
    parts = [(spec.offload_optimizer, 16 * share, 4 * OPTIMIZER_BUFFERS * min(SUB_GROUP, share))]
    if spec.framework == "deepspeed":
        count, elements = WEIGHT_BUFFERS
        parts.append((spec.offload_weights, 2 * share, 2 * count * elements))
    factor = BUFFER_FACTOR if spec.framework == "deepspeed" else 1
    memory = sum(factor * size for where, size, _ in parts if where == "cpu") + sum(buffers for where, _, buffers in parts if where == "nvme")
    nvme = sum(size for where, size, _ in parts if where == "nvme")
    return HostMemory(
        memory_bytes=round(memory * spec.gpus_per_node),
        nvme_bytes=nvme * spec.gpus_per_node,
        memory_room=None if spec.host_memory_gib is None else round(spec.host_memory_gib * 2**30),
        nvme_room=None if spec.host_nvme_tb is None else round(spec.host_nvme_tb * 1e12),
    )
