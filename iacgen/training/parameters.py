"""Exact parameter counts of decoder-only transformers, whole and cut by tensor and pipeline parallelism."""

from __future__ import annotations

from dataclasses import dataclass


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
