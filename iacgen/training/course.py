"""A whole run: days to a number of tokens, energy, cost."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from iacgen.training.plan import Job

DAY_S = 86400.0
SHOWN_TOKENS = 10**12
"""Tokens of a run that nobody stated: a round number to scale from."""


@dataclass(frozen=True)
class Wanted:
    """What a blueprint says of a whole run; None where it says nothing. ``gpu_hour`` is the price of a GPU for an hour in ``currency``."""

    tokens: int | None = None
    node_watts: float | None = None
    pue: float | None = None
    gpu_hour: float | None = None
    currency: str = "USD"


@dataclass(frozen=True)
class Course:
    """A run of ``tokens``, rounded up to whole steps. ``busy_s`` is the time of its steps, ``elapsed_s`` with the time that failures and saves
    take (the same where nobody knows it). Energy in watt-hours, of the nodes and of the hall; None where no power, or no PUE, is known.
    """

    tokens: int
    steps: int
    busy_s: float
    elapsed_s: float
    nodes_wh: float | None
    hall_wh: float | None
    gpu_hours: float
    cost: float | None

    @property
    def days(self) -> float:
        return self.elapsed_s / DAY_S


def course(job: Job, node_watts: float | None, pue: float | None, gpu_hour: float | None = None) -> Course | None:
    """The run of a job, on nodes that draw ``node_watts`` in a hall of that PUE, with GPUs at ``gpu_hour`` an hour, where the blueprint states
    none of them; None without a step time."""
    if job.step is None:
        return None
    spec, wanted = job.spec, job.spec.wanted
    tokens = wanted.tokens or SHOWN_TOKENS
    steps = -(-tokens // job.step.tokens)
    busy = steps * job.step.seconds
    share = job.reliability.effective_share
    elapsed = busy if share is None else busy / share if share else inf
    watts, ratio = wanted.node_watts or node_watts, wanted.pue or pue
    nodes_wh = spec.nodes * watts * elapsed / 3600 if watts else None
    gpu_hours, price = job.world * elapsed / 3600, wanted.gpu_hour or gpu_hour
    return Course(
        tokens=tokens, steps=steps, busy_s=busy, elapsed_s=elapsed, nodes_wh=nodes_wh, hall_wh=nodes_wh * ratio if nodes_wh and ratio else None,
        gpu_hours=gpu_hours, cost=gpu_hours * price if price else None,
    )  # fmt: skip
