"""How often to save: from the time that a save takes and the time between failures."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import TYPE_CHECKING

from iacgen.training.failures import mttf_s
from iacgen.training.parameters import count

if TYPE_CHECKING:
    from iacgen.training.spec import JobSpec

BYTES_PER_PARAMETER = {"megatron": 14, "deepspeed": 14, "fsdp": 12}
"""fp32 weights 4 and Adam moments 8. Megatron and DeepSpeed keep bf16 weights 2 besides: BLOOM-176B, 2,298 GiB computed, "2.3 TB"
published. FSDP's weights are the fp32 ones (torch.distributed.fsdp, MixedPrecision: parameters are saved in full precision)."""

ASSUMED_SAVE_S = 60.0
"""Seconds that a save may take where nobody promises a time."""

ASSUMED_MFU = 0.40
"""Share of the dense peak that a step reaches. Published for dense models on H100: 0.38 to 0.43 (arXiv:2407.21783, table 4)."""

SIGNAL_EARLY_S = 60
"""Slurm may send a signal that much earlier than asked (sbatch(1), --signal)."""
LONGEST_NOTICE_S = 65535
"""The most that sbatch's --signal takes."""


@dataclass(frozen=True)
class Checkpoints:
    """The plan for saving.

    ``save_s`` is what a save takes: no less than is promised, and no less than the store needs for it. ``interval_s`` of work lie
    between two saves. ``steps`` is the same in whole steps of ``step_s``, which is an estimate under ASSUMED_MFU unless ``step_known``.
    """

    save_s: float
    mttf_s: float
    interval_s: float
    lost_share: float
    step_s: float
    steps: int
    step_known: bool = False

    @property
    def notice_s(self) -> int:
        """Seconds before the end of its time that a job must hear of it: for the step that runs, a save, and a minute to end."""
        return min(LONGEST_NOTICE_S, ceil(self.step_s + self.save_s) + 60)


def plan(spec: JobSpec, parameters: int, step_s: float | None = None) -> Checkpoints | None:
    """Interval for a job whose saves take ``checkpoint_target_s``; None when it promises no time. ``step_s`` is None where nobody knows it."""
    if not spec.checkpoint_target_s:
        return None
    mttf = mttf_s(spec.nodes, spec.failures.per_1000_node_days)
    save = save_s(spec, parameters)
    interval = daly_interval_s(save, mttf)
    step = step_s or assumed_step_s(spec)
    return Checkpoints(
        save_s=save,
        mttf_s=mttf,
        interval_s=interval,
        lost_share=lost_share(save, interval, mttf),
        step_s=step,
        steps=max(1, round(interval / step)),
        step_known=step_s is not None,
    )


def save_s(spec: JobSpec, parameters: int) -> float:
    """Seconds of a save. A promise holds unless the store is slower; without one the store's rate says it, else ASSUMED_SAVE_S."""
    stored = BYTES_PER_PARAMETER[spec.framework] * parameters / spec.store_write_bytes_per_s if spec.store_write_bytes_per_s else None
    promised = spec.checkpoint_target_s if spec.checkpoint_promised or stored is None else 0.0
    return max(promised or 0.0, stored or 0.0)


def daly_interval_s(save_s: float, mttf: float) -> float:
    """Work between two saves that loses least (Daly 2006, doi:10.1016/j.future.2004.11.016, equation 37).

    Where a save takes longer than twice the time between failures the formula does not hold; then it is that time.
    """
    if save_s >= 2 * mttf:
        return mttf
    young = sqrt(2 * save_s * mttf)
    return young * (1 + sqrt(save_s / (2 * mttf)) / 3 + save_s / (18 * mttf)) - save_s


def lost_share(save_s: float, interval_s: float, mttf: float) -> float:
    """Share of the time spent on saving and on work done again, to first order."""
    return save_s / interval_s + interval_s / (2 * mttf)


def assumed_step_s(spec: JobSpec) -> float:
    """Seconds of a step under ASSUMED_MFU: 6 operations a working parameter and token, and 12Lhs a token for attention."""
    per_token = 6 * count(spec.model, spec.sequence).active + 12 * spec.model.layers * spec.model.hidden * spec.sequence
    tokens = spec.global_batch * spec.sequence
    return per_token * tokens / (spec.world * spec.gpu.bf16_tflops * 1e12 * ASSUMED_MFU)
