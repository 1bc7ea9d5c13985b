"""From a job's numbers to its plan: arithmetic, parameters, memory, traffic, checkpoint. The one entry of the training room."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from iacgen.diagnostics import Diagnostic, errors
from iacgen.training import batch, checkpoints
from iacgen.training.checkpoints import Checkpoints
from iacgen.training.data import Reading, reading
from iacgen.training.failures import Reliability, reliability
from iacgen.training.groups import RankGrid, dense
from iacgen.training.memory import MemoryTable, table
from iacgen.training.parameters import Parameters, count
from iacgen.training.spec import JobSpec
from iacgen.training.text import MEANING, table_text
from iacgen.training.traffic import NodeGrid, Traffic, node_grid, node_share, traffic
from iacgen.training.zero import Buckets, buckets
from iacgen.units import gib

SMALL_HEADROOM = 0.04
"""Share of the room that should stay free: published totals lie some per cent above sums of this kind."""


@dataclass(frozen=True)
class Job:
    """A job that adds up and fits.

    ``micro_batches`` is the gradient accumulation. ``grid`` is the job's shape in nodes and ``traffic`` what its nodes send
    each other in one step; placement needs nothing else. ``checkpoint_write_bytes_per_s`` and ``checkpoints`` are None
    when no time to save is promised. ``reliability`` is what failures mean for it, ``reading`` how its data reaches it.
    """

    spec: JobSpec
    parameters: Parameters
    world: int
    data_parallel: int
    micro_batches: int
    memory: MemoryTable
    grid: NodeGrid
    traffic: Traffic
    checkpoint_bytes: int
    checkpoint_write_bytes_per_s: float | None
    checkpoints: Checkpoints | None
    reliability: Reliability
    reading: Reading

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def ranks(self) -> RankGrid:
        """Process groups of the job, in Megatron's default order."""
        return dense(self.spec)

    @property
    def buckets(self) -> Buckets:
        """DeepSpeed's bucket sizes that the memory table counts."""
        return buckets(self.spec)


def plan(spec: JobSpec) -> tuple[Job | None, list[Diagnostic]]:
    """The job and what there is to say about it; no job when a finding is an error.

    Memory is judged only when the arithmetic holds. A job that does not fit gets one error, with its memory table and the
    single changes that would make it fit in the help.
    """
    findings = batch.check(spec)
    if errors(findings):
        return None, findings
    memory = table(spec)
    findings += list(_memory_findings(spec, memory))
    if errors(findings):
        return None, findings
    share = node_share(spec)
    assert share is not None  # batch.check refuses a job whose groups straddle nodes
    parameters = count(spec.model, spec.sequence)
    checkpoint = checkpoints.BYTES_PER_PARAMETER * parameters.total
    saves = checkpoints.plan(spec, parameters.total)
    job = Job(
        spec=spec,
        parameters=parameters,
        world=spec.world,
        data_parallel=spec.data_parallel,
        micro_batches=spec.micro_batches,
        memory=memory,
        grid=node_grid(spec, share),
        traffic=traffic(spec, share),
        checkpoint_bytes=checkpoint,
        checkpoint_write_bytes_per_s=checkpoint / spec.checkpoint_target_s if spec.checkpoint_target_s else None,
        checkpoints=saves,
        reliability=reliability(spec, saves, checkpoint),
        reading=reading(spec, checkpoints.assumed_step_s(spec)),
    )
    return job, findings


def timed(job: Job, step_s: float) -> Job:
    """The job with what follows from the time of its steps, in the place of what was assumed of them."""
    saves = checkpoints.plan(job.spec, job.parameters.total, step_s)
    return replace(job, checkpoints=saves, reliability=reliability(job.spec, saves, job.checkpoint_bytes), reading=reading(job.spec, step_s))


def _memory_findings(spec: JobSpec, memory: MemoryTable) -> Iterator[Diagnostic]:
    worst, room = memory.worst, memory.capacity
    if memory.breaking_line:
        line = memory.breaking_line
        yield Diagnostic(
            "IAC330", "job-does-not-fit", "error",
            f"{spec.name} needs {gib(worst.total)} on each GPU of stage {worst.stage}, and {spec.gpu.id} has room for {gib(room)}: "
            f"{MEANING[line]} ({gib(getattr(worst, line))}) breaks it",
            spec.at(), help=f"{table_text(memory)}\n{_remedies(spec)}", on_key=True,
        )  # fmt: skip
    elif worst.total > (1 - SMALL_HEADROOM) * room:
        yield Diagnostic(
            "IAC331", "memory-headroom-small", "warning",
            f"{spec.name} needs {gib(worst.total)} of {gib(room)} on each GPU of stage {worst.stage}; fragmentation may take more than is left",
            spec.at(), help=table_text(memory), on_key=True,
        )  # fmt: skip


def _remedies(spec: JobSpec) -> str:
    """One line for the single changes of the blueprint after which the job adds up and fits."""
    good = []
    for words, changed in _changes(spec):
        if not errors(batch.check(changed)):
            memory = table(changed)
            if memory.fits:
                good.append(f"{words} ({gib(memory.worst.total)})")
    return "would fit with " + ", or ".join(good) if good else "no single change of recompute, parallel, zero or micro_batch makes it fit"


def _changes(spec: JobSpec) -> Iterator[tuple[str, JobSpec]]:
    for recompute in ("selective", "full"):
        if spec.recompute != recompute and spec.recompute != "full":
            yield f"recompute: {recompute}", replace(spec, recompute=recompute)
    if spec.micro_batch > 1:
        yield "micro_batch: 1", replace(spec, micro_batch=1)
    yield f"parallel.context: {2 * spec.context}", replace(spec, context=2 * spec.context)
    if 2 * spec.tensor <= spec.gpus_per_node:
        yield f"parallel.tensor: {2 * spec.tensor}", replace(spec, tensor=2 * spec.tensor, sequence_parallel=spec.framework == "megatron")
    yield f"parallel.pipeline: {2 * spec.pipeline}", replace(spec, pipeline=2 * spec.pipeline)
    if spec.framework == "deepspeed":
        for stage in range(spec.zero + 1, 4):
            yield f"zero: {stage}", replace(spec, zero=stage)
