"""DeepSpeed's ZeRO: which states are sharded, and how large its communication buckets are.

The bucket sizes are numbers of this project's own choosing that the DeepSpeed configuration states, so that the memory
table and the program agree; left out, DeepSpeed would take its defaults whatever the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from iacgen.training.parameters import count

if TYPE_CHECKING:
    from iacgen.training.spec import JobSpec

DEFAULT_BUCKET = 500_000_000
"""Elements; DeepSpeed's own default of reduce_bucket_size and allgather_bucket_size."""


@dataclass(frozen=True)
class Buckets:
    """Sizes in elements, as the DeepSpeed configuration wants them. ``live`` and ``persistent`` matter at stage 3 only."""

    reduce: int
    gather: int
    live: int
    persistent: int


def buckets(spec: JobSpec) -> Buckets:
    """Buckets for a job. No bucket is larger than the part of the model that one GPU works on.

    Stage 3 takes hidden² elements for reduction, 0.9 of that for prefetch, and keeps parameters below 10 * hidden whole: what
    the Transformers integration of DeepSpeed computes. Twice the largest module may be gathered at a time.
    """
    parameters = count(spec.model, spec.sequence)
    h = spec.model.hidden
    held = parameters.total // (spec.tensor * spec.pipeline)
    if spec.zero == 3:
        return Buckets(reduce=h * h, gather=9 * h * h // 10, live=2 * parameters.largest_module, persistent=10 * h)
    size = min(DEFAULT_BUCKET, held)
    return Buckets(reduce=size, gather=size, live=0, persistent=0)


def bucket_bytes(spec: JobSpec) -> int:
    """What the buckets take on a GPU.

    Stages 0 to 2: two reduce buckets, one filling while the other is sent, and from stage 1 on a bucket to gather weights.
    Stage 3: two reduce buckets, the gathered weights, and the gradient of the largest module before it is cut (the 4L of
    DeepSpeed's own estimate counts one gathered module; prefetching the next makes it two).
    """
    sizes = buckets(spec)
    gradient = 4 if spec.gradients == "fp32" else 2
    if spec.zero < 3:
        return 2 * gradient * sizes.reduce + (2 * sizes.gather if spec.zero else 0)
    return gradient * (2 * sizes.reduce + count(spec.model, spec.sequence).largest_module) + 2 * sizes.live
