"""From a job's numbers to its plan: arithmetic, parameters, memory, traffic, checkpoint. The one entry of the training room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from iacgen.diagnostics import Diagnostic, errors
from iacgen.training import batch, checkpoints
from iacgen.training.checkpoints import Checkpoints
from iacgen.training.data import Reading, reading
from iacgen.training.failures import Reliability, reliability
from iacgen.training.groups import RankGrid, dense, experts
from iacgen.training.links import links
from iacgen.training.memory import MemoryTable, table
from iacgen.training.offload import HostMemory, host_memory
from iacgen.training.parameters import Parameters, count
from iacgen.training.remedies import remedies
from iacgen.training.spec import JobSpec
from iacgen.training.step import StepTime, step
from iacgen.training.text import MEANING, table_text
from iacgen.training.traffic import NodeGrid, Traffic, node_grid, node_share, traffic
from iacgen.training.zero import Buckets, buckets
from iacgen.units import bytes_si, gib

SMALL_HEADROOM = 0.04
"""Share of the room that should stay free: published totals lie some per cent above sums of this kind."""


@dataclass(frozen=True)
class Job:
    """A job that adds up and fits.

    ``micro_batches`` is the gradient accumulation. ``grid`` is the job's shape in nodes and ``traffic`` what its nodes send
    each other in one step; placement needs nothing else. ``host`` is what offload takes on a node, None without offload. ``checkpoint_write_bytes_per_s`` and ``checkpoints`` are None
    when no time to save is promised. ``reliability`` is what failures mean for it, ``reading`` how its data reaches it.
    """

    spec: JobSpec
    parameters: Parameters
    world: int
    data_parallel: int
    micro_batches: int
    memory: MemoryTable
    host: HostMemory | None
    grid: NodeGrid
    traffic: Traffic
    checkpoint_bytes: int
    checkpoint_write_bytes_per_s: float | None
    checkpoints: Checkpoints | None
    reliability: Reliability
    reading: Reading
    step: StepTime | None = None

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def ranks(self) -> RankGrid:
        """Process groups of the job, in Megatron's default order."""
        return dense(self.spec)

    @property
    def expert_ranks(self) -> RankGrid:
        """Process groups of the layers with experts."""
        return experts(self.spec)

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
    host = host_memory(spec)
    findings += [*_memory_findings(spec, memory), *_host_findings(spec, host)]
    if errors(findings):
        return None, findings
    share = node_share(spec)
    assert share is not None  # batch.check refuses a job whose groups straddle nodes
    parameters = count(spec.model, spec.sequence)
    checkpoint = checkpoints.BYTES_PER_PARAMETER[spec.framework] * parameters.total
    saves = checkpoints.plan(spec, parameters.total)
    job = Job(
        spec=spec,
        parameters=parameters,
        world=spec.world,
        data_parallel=spec.data_parallel,
        micro_batches=spec.micro_batches,
        memory=memory,
        host=host,
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


def stepped(job: Job, network: Mapping[str, float] | None = None) -> Job:
    """The job with the time of its step and what follows from it; as it was where nothing joins its nodes. ``network`` is that of
    ``step.step``."""
    over = links(job.spec)
    if not over.network and job.world > over.domain:
        return job
    taken = step(job.spec, network=network)
    return replace(timed(job, taken.seconds), step=taken)


def _memory_findings(spec: JobSpec, memory: MemoryTable) -> Iterator[Diagnostic]:
    worst, room = memory.worst, memory.capacity
    if memory.breaking_line:
        line = memory.breaking_line
        yield Diagnostic(
            "IAC330", "job-does-not-fit", "error",
            f"{spec.name} needs {gib(worst.total)} on each GPU of stage {worst.stage}, and {spec.gpu.id} has room for {gib(room)}: "
            f"{MEANING[line]} ({gib(getattr(worst, line))}) breaks it",
            spec.at(), help=f"{table_text(memory)}\n{remedies(spec)}", on_key=True,
        )  # fmt: skip
    elif worst.total > (1 - SMALL_HEADROOM) * room:
        yield Diagnostic(
            "IAC331", "memory-headroom-small", "warning",
            f"{spec.name} needs {gib(worst.total)} of {gib(room)} on each GPU of stage {worst.stage}; fragmentation may take more than is left",
            spec.at(), help=table_text(memory), on_key=True,
        )  # fmt: skip


def _host_findings(spec: JobSpec, host: HostMemory | None) -> Iterator[Diagnostic]:
    """Whether what leaves the GPUs finds room on its node."""
    if host is None:
        return
    part = "optimizer" if spec.offload_optimizer != "none" else "weights"
    if host.memory_room is not None and host.memory_bytes > host.memory_room:
        yield Diagnostic(
            "IAC334", "host-memory-too-small", "error",
            f"{spec.name} keeps {gib(host.memory_bytes)} in the memory of each node, which has {gib(host.memory_room)}",
            spec.at("offload", part), help="take more nodes, offload less, or to nvme",
        )  # fmt: skip
    if host.nvme_room is not None and host.nvme_bytes > host.nvme_room:
        yield Diagnostic(
            "IAC335", "offload-beyond-nvme", "error",
            f"{spec.name} keeps {bytes_si(host.nvme_bytes)} on the NVMe of each node, which has {bytes_si(host.nvme_room)}",
            spec.at("offload", part), help="take more nodes, or offload less",
        )  # fmt: skip
    if host.nvme_room is None and host.nvme_bytes:
        yield Diagnostic(
            "IAC336", "nvme-unknown", "warning",
            f"{spec.name} keeps {bytes_si(host.nvme_bytes)} on the NVMe of each node, and the catalog does not know how much that has",
            spec.at("offload", part), help="look it up on the machine",
        )  # fmt: skip
