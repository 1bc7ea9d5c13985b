"""The order of one job's ranks, with what it was made on."""

from __future__ import annotations

from dataclasses import dataclass

from iacgen.design.fabric.hierarchy import Hierarchy
from iacgen.design.model import Pool
from iacgen.placement import Placement
from iacgen.placement.exact import Proof
from iacgen.placement.failover import Failover
from iacgen.training import Job


@dataclass(frozen=True)
class Ground:
    """The fabric that an order was made for. ``name`` is None where no fabric joins the hosts, as for a job on one of them; ``source`` is "planned"
    or the kind of ``files`` that told of the fabric ``found``. ``strangers`` are its hosts that no pool has, ``adrift`` those that the
    files give no place; ``open_tiers`` those of whose uplinks some are not told, and count as wide as one likes.
    """

    name: str | None
    source: str
    files: tuple[str, ...] = ()
    found: Hierarchy | None = None
    strangers: tuple[str, ...] = ()
    adrift: tuple[str, ...] = ()
    open_tiers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ordering:
    """A job, the pool that it runs on, its placement and the fabric under it. With a ``change`` the placement is the one after hosts failed,
    and ``before`` the one that ran until then. ``proof`` is what the exact solver says, None where it was not asked."""

    job: Job
    pool: Pool
    placement: Placement
    ground: Ground
    change: Failover | None = None
    before: Placement | None = None
    proof: Proof | None = None

    @property
    def gain(self) -> float:
        """How many times as much the sorted host names cost; 1.0 where nothing leaves a host."""
        placement = self.placement
        return placement.sorted_cost_s / placement.cost_s if placement.cost_s else 1.0

    @property
    def missing(self) -> tuple[str, ...]:
        """Hosts of the pool that the fabric that was found does not hold."""
        return tuple(host for host in self.pool.hosts if self.ground.found and host not in self.ground.found.index)
