"""How a Megatron job must start: the steps of its launch script, and what Megatron asks of the environment."""

from __future__ import annotations

import shlex
from typing import Any

from ..launch import exported, to_a_rank
from ..script import Step


def launch(job: Any, placement: Any, design: Any) -> tuple[Step, ...]:
    """A launcher runs the script once for each rank; the arguments come out of the file that was judged."""
    return (
        *to_a_rank(job, placement, design.pool_of(placement.hosts[0]).name),
        Step("find_rank", "the launcher's names for a rank must become torch's"),
        Step("[[ -n ${RANK:-} ]] || die", "there is no rank without a launcher"),
        *exported("megatron.env", "without megatron.env Megatron may refuse to start"),
        Step('mapfile -t arguments <"$here/megatron.args"', "the arguments are those of megatron.args"),
        Step(f'exec "${{PYTHON:-python3}}" {shlex.quote(job.spec.entrypoint)} "${{arguments[@]}}" "$@"', "the training script must get every argument"),
    )


def environment(spec: Any) -> dict[str, str]:
    """validate_args: tensor or context parallelism on compute capability below 10 needs CUDA_DEVICE_MAX_CONNECTIONS=1."""
    needed = (spec.tensor > 1 or spec.context > 1) and float(spec.gpu.compute_capability) < 10
    return {"CUDA_DEVICE_MAX_CONNECTIONS": "1"} if needed else {}
