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

    def bytes(self, stage: int, largest_module: int) -> int:
        """What the buckets take on a GPU, in bf16.

        Stages 1 and 2: two reduce buckets, one filling while the other is sent, and one gather bucket. Stage 3: two reduce
        buckets, the gathered weights, and the gradient of the largest module before it is cut (the 4L of DeepSpeed's own
        estimate counts one gathered module; prefetching the next makes it two).
        """
        if stage == 0:
            return 2 * self.reduce
        if stage < 3:
            return 2 * (2 * self.reduce + self.gather)
        return 2 * (2 * self.reduce + self.live + largest_module)


def buckets(spec: JobSpec) -> Buckets:
    """Buckets for a job. No bucket is larger than the part of the model that one GPU works on.

    Stage 3 takes hidden² elements for reduction and prefetch and keeps parameters below 10 * hidden whole, the values that
    the Transformers integration of DeepSpeed computes; twice the largest module may be gathered at a time.
    """
    parameters = count(spec.model, spec.sequence)
    h = spec.model.hidden
    held = parameters.total // (spec.tensor * spec.pipeline)
    if spec.zero == 3:
        return Buckets(reduce=h * h, gather=h * h, live=2 * parameters.largest_module, persistent=10 * h)
    size = min(DEFAULT_BUCKET, held)
    return Buckets(reduce=size, gather=size, live=0, persistent=0)
