"""The smallest way to cut a model so that it fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from .. import catalog
from ..training import Job, JobSpec, plan

TOKENS = 4 * 2**20  # in a global batch: what Llama 3.1 405B began with, arXiv:2407.21783, section 3.4.1
SEQUENCE = 8192  # the training length of Llama 3, as long as the model was made for it
BUBBLE = 4  # micro batches for each pipeline stage, so that a stage waits for less than a fifth of the time


@dataclass(frozen=True)
class Layout:
    """``nodes`` is at most what there is: whole copies of the model only."""

    nodes: int
    tensor: int
    pipeline: int
    context: int
    expert: int
    recompute: str
    sequence: int
    global_batch: int
    job: Job


def smallest(model: catalog.Model, system: catalog.System, nodes: int, checkpoint: bool) -> Layout | None:
    """The layout with the fewest GPUs for a copy of the model, recomputing as little as possible; None where nothing fits.

    A layout counts as fitting when nothing at all is found against it, scarce memory included.
    """
    assert system.gpu
    sequence = min(SEQUENCE, model.max_sequence)
    base = JobSpec(
        name="job", model=model, gpu=catalog.gpu(system.gpu), nodes=nodes, gpus_per_node=system.gpus, sequence=sequence, global_batch=1,
        gradients="fp32", distributed_optimizer=True, checkpoint_target_s=60.0 if checkpoint else None,
    )  # fmt: skip
    for recompute, size, tensor, pipeline, context, expert in _candidates(model, system.gpus, nodes * system.gpus):
        used = nodes // -(-size // system.gpus) * -(-size // system.gpus)
        world = used * system.gpus
        if not used or world % size:
            continue
        copies = world // (tensor * pipeline * context)
        micro = max(BUBBLE * pipeline if pipeline > 1 else 1, round(TOKENS / (sequence * copies)))
        spec = replace(
            base, nodes=used, tensor=tensor, pipeline=pipeline, context=context, expert=expert, recompute=recompute, sequence_parallel=tensor > 1, global_batch=copies * micro,
        )  # fmt: skip
        job, findings = plan(spec)
        if job and not findings:
            return Layout(used, tensor, pipeline, context, expert, recompute, sequence, copies * micro, job)
    return None


def _candidates(model: catalog.Model, gpus: int, world: int) -> Iterator[tuple[str, int, int, int, int, int]]:
    """(recompute, GPUs that hold the model once, tensor, pipeline, context, expert), the most wanted first."""
    tensors = [t for t in range(1, gpus + 1) if gpus % t == 0 and model.heads % t == 0]
    pipelines = [p for p in range(1, model.layers + 1) if model.layers % p == 0]
    experts = [e for e in range(1, model.experts.count + 1) if model.experts.count % e == 0] if model.experts else [1]
    cuts = sorted((p * max(t * c, e), p, c, t, e) for t, p, c, e in product(tensors, pipelines, (1, 2, 4), experts) if p * max(t * c, e) <= world)
    for recompute in ("none", "full"):
        yield from ((recompute, size, t, p, c, e) for size, p, c, t, e in cuts)
