"""The order of one job's ranks, with what it was made on."""

from __future__ import annotations

from dataclasses import dataclass

from iacgen.design.model import Pool
from iacgen.placement import Placement
from iacgen.training import Job


@dataclass(frozen=True)
class Ground:
    """The fabric that an order was made for. ``name`` is None where no fabric joins the hosts, as for a job on one of them; ``source`` is "planned"
    or the kind of file that told."""

    name: str | None
    source: str


@dataclass(frozen=True)
class Ordering:
    """A job, the pool that it runs on, its placement and the fabric under it."""

    job: Job
    pool: Pool
    placement: Placement
    ground: Ground

    @property
    def gain(self) -> float:
        """How many times as much the sorted host names cost; 1.0 where nothing leaves a host."""
        placement = self.placement
        return placement.sorted_cost_s / placement.cost_s if placement.cost_s else 1.0
