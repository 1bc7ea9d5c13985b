"""The job seen from the fabric: its shape in nodes, and the bytes that its nodes send each other in one step."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NodeGrid:
    """Shape of the job in nodes. Virtual node v = c + context * (d + data * p): context fastest, then data, then pipeline.

    Virtual node v holds ranks v * gpus_per_node up to (v + 1) * gpus_per_node - 1. A row is the ``context * data`` nodes of
    one pipeline position, a column the ``pipeline`` nodes of one row position. ``expert`` counts consecutive nodes of a row
    that form one expert group; 1 when there is none that leaves the node.
    """

    context: int
    data: int
    pipeline: int
    expert: int = 1

    @property
    def nodes(self) -> int:
        return self.context * self.data * self.pipeline


@dataclass(frozen=True)
class Traffic:
    """Bytes in one step, of all GPUs of a node together; 0 where a family does not leave the node.

    ``data``: over each edge of the ring through a row, one direction. ``context``: over each edge of the ring through the
    nodes that share a sequence. ``pipeline``: over each edge of a column, each way; the column closes to a ring when
    ``pipeline_ring`` is true (interleaved schedule). ``expert``: what one node sends to the others of its expert group
    together.
    """

    data: float
    context: float
    pipeline: float
    expert: float
    pipeline_ring: bool
