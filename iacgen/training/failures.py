"""How often a job fails, what that costs, and how many nodes stand by for it.

A failure of any node stops the whole job; nodes fail independently of each other at a constant rate. Published rates are of such
interruptions, by node and day:

==========================================  =======================
Llama 3 405B, 16,384 H100, 54 days          3.79e-3, of 419 unexpected interruptions (arXiv:2407.21783, section 3.3.4)
RSC-1, 16,000 A100, 11 months               6.50e-3 (arXiv:2410.21680, section III)
RSC-2, 8,000 A100, 11 months                2.34e-3 (same; the section of both is unverified)
==========================================  =======================

They hold for large jobs. For small ones the series model is too bright: it gives 28.8 h for 1,024 GPUs of RSC-1, where 7.9 h were
seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, expm1, fsum, lgamma, log, log1p
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from iacgen.training.checkpoints import Checkpoints
    from iacgen.training.spec import JobSpec

DAY_S = 86400.0

PUBLISHED_PER_1000_NODE_DAYS = (2.34, 6.50)
"""Lowest and highest published rate: RSC-2 and RSC-1 (arXiv:2410.21680)."""

ASSUMED_PER_1000_NODE_DAYS = 4.0
"""Within what is published, near the 3.79 of the run on H100."""

ASSUMED_RESTART_S = 600.0
"""Seconds from a failure to the first read of the checkpoint: detection, diagnosis, another node, start of all processes. A judgement:
accounts of MegaScale (arXiv:2402.15627) give less for detection and diagnosis, and its own text was not at hand to verify it."""

ASSUMED_REPAIR_S = DAY_S
"""Seconds until a failed node is back. Nobody publishes this for nodes of this kind: a day is a judgement."""

ASSUMED_AVAILABILITY = 0.99
"""Share of the time in which a job should have all its nodes: a judgement."""


@dataclass(frozen=True)
class Failures:
    """What a blueprint says of failures. ``availability`` is None where nobody asks for one."""

    per_1000_node_days: float = ASSUMED_PER_1000_NODE_DAYS
    restart_s: float = ASSUMED_RESTART_S
    repair_s: float = ASSUMED_REPAIR_S
    availability: float | None = None

    @property
    def down_share(self) -> float:
        """Share of its life that a node is in repair: up for 1/rate on average, then down for ``repair_s``."""
        expected = self.per_1000_node_days / 1000 * self.repair_s / DAY_S
        return expected / (1 + expected)


@dataclass(frozen=True)
class Reliability:
    """What failures mean for one job.

    ``restart_s`` includes reading the checkpoint, ``read_s`` (0 where nobody knows how fast the store reads). ``spares`` is how many
    nodes must stand by so that the job has all its nodes for the share ``availability`` of the time, None where more than as many
    again would be needed. ``effective_share`` is the share of that time that goes into steps which count, None for a job that saves
    nothing.
    """

    per_1000_node_days: float
    mttf_s: float
    restart_s: float
    read_s: float
    repair_s: float
    availability: float
    spares: int | None
    effective_share: float | None


def reliability(spec: JobSpec, saves: Checkpoints | None, checkpoint_bytes: int) -> Reliability:
    """The failures of a job that saves as ``saves`` says."""
    told = spec.failures
    mttf, read = mttf_s(spec.nodes, told.per_1000_node_days), 0.0
    if saves and spec.store_read_bytes_per_s:
        read = checkpoint_bytes / spec.store_read_bytes_per_s
    restart, wanted = told.restart_s + read, told.availability or ASSUMED_AVAILABILITY
    return Reliability(
        per_1000_node_days=told.per_1000_node_days,
        mttf_s=mttf,
        restart_s=restart,
        read_s=read,
        repair_s=told.repair_s,
        availability=wanted,
        spares=spares_for(spec.nodes, told.down_share, wanted),
        effective_share=effective_share(saves.save_s, saves.interval_s, mttf, restart) if saves else None,
    )


def mttf_s(nodes: int, per_1000_node_days: float = ASSUMED_PER_1000_NODE_DAYS) -> float:
    """Mean time to failure of a job that any node's failure stops, in seconds."""
    return DAY_S * 1000 / (nodes * per_1000_node_days)


def effective_share(save_s: float, interval_s: float, mttf: float, restart_s: float = 0.0) -> float:
    """Share of the time that goes into work which is not lost, ``interval_s`` of work between two saves; exact.

    Failures come at any time, also while saving and restarting. A stretch of work and its save then takes
    M exp(R/M) (exp((t + C)/M) - 1) on average (Daly 2006, doi:10.1016/j.future.2004.11.016, section 3).
    """
    if (restart_s + interval_s + save_s) / mttf > 700:  # exp would overflow; less than 1e-300 is left
        return 0.0
    return interval_s / (mttf * exp(restart_s / mttf) * expm1((interval_s + save_s) / mttf))


def chance_of_enough(nodes: int, spares: int, down_share: float) -> float:
    """Chance that at least ``nodes`` of ``nodes + spares`` are up: a binomial sum, since each is down independently of the rest.

    Steady state; for a repair time of any distribution the share of its mean is all that counts (renewal theorem).
    """
    total = nodes + spares
    if down_share <= 0:
        return 1.0
    down, up = log(down_share), log1p(-down_share)
    ways = lgamma(total + 1)
    return min(1.0, fsum(exp(ways - lgamma(k + 1) - lgamma(total - k + 1) + k * down + (total - k) * up) for k in range(spares + 1)))


def spares_for(nodes: int, down_share: float, availability: float) -> int | None:
    """The least number of spare nodes with which ``nodes`` are up for the share ``availability`` of the time; None above ``nodes``.

    One node more never makes it less likely that enough are up, so the least is found by halving.
    """
    if chance_of_enough(nodes, nodes, down_share) < availability:
        return None
    few, many = -1, nodes
    while many - few > 1:
        middle = (few + many) // 2
        if chance_of_enough(nodes, middle, down_share) >= availability:
            many = middle
        else:
            few = middle
    return many
