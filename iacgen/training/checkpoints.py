"""How often to save: from the time that a save may take and the time between failures."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from iacgen.training.spec import JobSpec

BYTES_PER_PARAMETER = 14
"""bf16 weights 2, fp32 master weights 4, Adam moments 8; BLOOM-176B: 2,298 GiB computed, "2.3 TB" published."""

FAILURES_PER_NODE_DAY = 4e-3
"""Interruptions of a job, by node and day. Published: 3.79e-3 (arXiv:2407.21783), 2.34e-3 to 6.50e-3 (arXiv:2410.21680)."""

ASSUMED_SAVE_S = 60.0
"""Seconds that a save may take where nobody promises a time."""

ASSUMED_MFU = 0.40
"""Share of the dense peak that a step reaches. Published for dense models on H100: 0.38 to 0.43 (arXiv:2407.21783, table 4)."""


@dataclass(frozen=True)
class Checkpoints:
    """The plan for saving. ``steps`` is the interval in whole steps of ``step_s``, an estimate under ASSUMED_MFU."""

    save_s: float
    mttf_s: float
    interval_s: float
    lost_share: float
    step_s: float
    steps: int


def plan(spec: JobSpec, parameters: int) -> Checkpoints | None:
    """Interval for a job whose saves take ``checkpoint_target_s``; None when it promises no time."""
    if not spec.checkpoint_target_s:
        return None
    mttf = mttf_s(spec.nodes)
    interval = daly_interval_s(spec.checkpoint_target_s, mttf)
    step = step_s(spec, parameters)
    return Checkpoints(
        save_s=spec.checkpoint_target_s,
        mttf_s=mttf,
        interval_s=interval,
        lost_share=lost_share(spec.checkpoint_target_s, interval, mttf),
        step_s=step,
        steps=max(1, round(interval / step)),
    )


def mttf_s(nodes: int, failures_per_node_day: float = FAILURES_PER_NODE_DAY) -> float:
    """Mean time to failure of a job that any node's failure stops, in seconds."""
    return 86400 / (nodes * failures_per_node_day)


def daly_interval_s(save_s: float, mttf: float) -> float:
    """Time between the starts of two saves that loses least (Daly 2006, doi:10.1016/j.future.2004.11.016, equation 37).

    Where a save takes longer than twice the time between failures the formula does not hold; then it is that time.
    """
    if save_s >= 2 * mttf:
        return mttf
    young = sqrt(2 * save_s * mttf)
    return young * (1 + sqrt(save_s / (2 * mttf)) / 3 + save_s / (18 * mttf)) - save_s


def lost_share(save_s: float, interval_s: float, mttf: float) -> float:
    """Share of the time spent on saving and on work done again, to first order."""
    return save_s / interval_s + interval_s / (2 * mttf)


def step_s(spec: JobSpec, parameters: int) -> float:
    """Seconds of a step under ASSUMED_MFU: 6 operations a parameter and token, and 12Lhs a token for attention."""
    per_token = 6 * parameters + 12 * spec.model.layers * spec.model.hidden * spec.sequence
    tokens = spec.global_batch * spec.sequence
    return per_token * tokens / (spec.world * spec.gpu.bf16_tflops * 1e12 * ASSUMED_MFU)
