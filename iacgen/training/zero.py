"""DeepSpeed's ZeRO: how large its communication buckets are, and what they take.

The bucket sizes are numbers of this project's own choosing that the DeepSpeed configuration states, so that the memory
table and the program agree; left out, DeepSpeed would take its defaults whatever the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from iacgen.training.parameters import count, largest_tensor, shard
from iacgen.training.states import ranks, sums_are_flat

if TYPE_CHECKING:
    from iacgen.training.spec import JobSpec

DEFAULT_BUCKET = 500_000_000
"""Elements; DeepSpeed's own default of reduce_bucket_size and allgather_bucket_size, and MEMORY_OPT_ALLREDUCE_SIZE of its engine."""


_BYTES = {"bf16": 2, "fp32": 4}


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


def bucket_bytes(spec: JobSpec, stage: int = 0) -> int:
    """What DeepSpeed's communication takes on a GPU of a pipeline stage besides the states themselves.

    Stages 0 to 2: the gradient of the largest parameter lies beside the sum that it is added to. Then, one after the other, so that
    the largest counts, for PyTorch gives its block to the others: a bucket of gradients put together for the all-reduce, once more
    where it is sent in another type (where the sums are flat only that copy, of all of them: engine.py, allreduce_bucket); one
    gradient in double precision for the norm (zero/stage_1_and_2.py, get_grad_norm_direct), the largest or the GPU's whole share; a
    bucket to gather weights. At stage 2 two buckets work during the backward pass, one filling while the other is sent.
    Stage 3: two reduce buckets, the gathered weights, and the gradient of the largest module before it is cut (the 4L of
    DeepSpeed's own estimate counts one gathered module; prefetching the next makes it two).
    """
    sizes, fp32 = buckets(spec), spec.gradients == "fp32"
    if spec.zero == 3:
        return (4 if fp32 else 2) * (2 * sizes.reduce + count(spec.model, spec.sequence).largest_module) + 2 * sizes.live
    largest, held = largest_tensor(spec, stage), shard(spec, stage)
    same, alike = ranks(spec)
    flat, sent_as = sums_are_flat(spec), spec.gradients_sent or spec.gradients
    if flat:
        sent = _BYTES[sent_as] * held.total if sent_as != spec.gradients else 0
    else:
        sent = (2 + (_BYTES[sent_as] if sent_as != "bf16" else 0)) * sizes.reduce
    norm = 8 * min(largest, held.dense // same + held.experts // alike) if spec.zero and not flat else 0
    gather = 2 * sizes.gather if spec.zero or flat else 0
    beside = (6 if flat and fp32 else 2) * largest
    return beside + (2 * sizes.reduce + sent + max(norm, gather) if spec.zero == 2 else max(sent, norm, gather))
