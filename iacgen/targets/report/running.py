"""What a job meets while it runs: failures, saves, restarts, spare nodes, and the way of its data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from iacgen import units
from iacgen.design.model import Design, Pool, Storage
from iacgen.training import Job
from iacgen.training.checkpoints import Checkpoints
from iacgen.training.data import Reading
from iacgen.training.failures import (
    ASSUMED_AVAILABILITY,
    ASSUMED_PER_1000_NODE_DAYS,
    ASSUMED_REPAIR_S,
    ASSUMED_RESTART_S,
    DAY_S,
    PUBLISHED_PER_1000_NODE_DAYS,
    chance_of_enough,
)
from iacgen.training.grades import grade_needed

from .cluster import Fact


def facts(job: Job, pool: Pool, design: Design) -> Iterator[Fact]:
    """Checkpoint, saves, failures, spare nodes and data of one job on a pool."""
    spec = job.spec
    store = design.storage.get(spec.checkpoint_to) if spec.checkpoint_to else None
    yield "Checkpoint", _checkpoint(job, store)
    if job.checkpoints:
        yield "Save interval", _saving(job.checkpoints)
    yield "Failures", _failures(job)
    yield "Spare nodes", _spares(job, pool)
    yield "Data", f"{_data(job)}; {_loader(job)}"
    yield from _host(job)
    yield from _nearer(job.reading)


def _checkpoint(job: Job, store: Storage | None) -> str:
    size = units.bytes_si(job.checkpoint_bytes)
    if store is None:
        return f"{size}; no store named"
    if store.kind == "s3":
        return f"{size} to {store.name}, whose write rate is not stated"
    offered, needed = store.write_bytes_per_s, job.checkpoint_write_bytes_per_s
    takes = f"{size} to {store.name}: {units.seconds(job.checkpoint_bytes / offered)} at its {units.gb_per_s(offered)}"
    if needed is None:
        return takes
    verdict = f"{offered / needed:.3g} times that" if offered >= needed else f"only {offered / needed:.0%} of that"
    target = f"{units.seconds(job.checkpoint_bytes / needed)} {'promised' if job.spec.checkpoint_promised else 'is the assumed target'}"
    return f"{takes}; {target}, which needs {units.gb_per_s(needed)} ({_grade(needed, job.spec.nodes)}): the store offers {verdict}"


def _grade(needed: float, nodes: int) -> str:
    grade = grade_needed(needed, "write", nodes)
    return f'for {nodes:,} nodes a store of SuperPOD grade "{grade}"' if grade else f'above SuperPOD grade "best" for {nodes:,} nodes'


def _saving(saves: Checkpoints) -> str:
    known = "predicted" if saves.step_known else "assumed"
    every = f"{saves.steps:,} {'step' if saves.steps == 1 else 'steps'} of about {units.seconds(saves.step_s)} ({known}), near the {units.seconds(saves.interval_s)} that lose least (Daly 2006)"
    return f"{every} when a save takes {units.seconds(saves.save_s)} and a failure comes every {_long(saves.mttf_s)}; saving and work done again then take {saves.lost_share:.1%} of the time"


def _failures(job: Job) -> str:
    found = job.reliability
    every = f"one every {_long(found.mttf_s)}, at {found.per_1000_node_days:g} for 1,000 nodes and day"
    if found.effective_share is None:
        return f"{every}; each starts the job from the beginning, since it saves nothing"
    read = f", {units.seconds(found.read_s)} of them to read the checkpoint," if found.read_s else ""
    return f"{every}; a restart takes {units.seconds(found.restart_s)}{read} and {found.effective_share:.1%} of the time in which all nodes are up goes into steps that count"


def _long(value_s: float) -> str:
    """A time that may be days."""
    return units.seconds(value_s) if value_s < 7 * DAY_S else f"{value_s / DAY_S:,.0f} days"


def _spares(job: Job, pool: Pool) -> str:
    """How many nodes stand by, and how many would have to. The pool's spares are there for each of its jobs; what else a job leaves free
    may be another one's."""
    found, nodes, down = job.reliability, job.spec.nodes, job.spec.failures.down_share
    have = pool.count - len(pool.down) - nodes
    kept = min(pool.spares, have)
    asked = "asked for" if job.spec.failures.availability else "assumed"
    here = f"pool {pool.name} keeps {kept}: with that the {nodes:,} nodes of the job are whole for {chance_of_enough(nodes, kept, down):.2%} of the time while a repair takes {_long(found.repair_s)}"
    free = f" ({chance_of_enough(nodes, have, down):.2%} as long as no other job takes the {have - kept:,} besides that are up)" if have > kept else ""
    wanted = f"{found.spares:,}" if found.spares is not None else f"more than {nodes:,}"
    return f"{here}{free}; for {100 * found.availability:.5g}% ({asked}) it takes {wanted}"


def _data(job: Job) -> str:
    it, spec = job.reading, job.spec
    one = f"{units.bytes_si(it.sample_bytes)} each" if it.input.sample_bytes else f"{units.bytes_si(it.sample_bytes)} each, as {spec.sequence + 1:,} tokens lie on disk"
    copies = f", each read by {it.copies} ranks" if it.copies > 1 else ""
    step = "" if job.step else " at the assumed time of a step"
    return f"{it.samples_per_s:.3g} samples a second of {one}{copies}: {units.gb_per_s(it.bytes_per_s)} together{step}"


def _loader(job: Job) -> str:
    it = job.reading
    on = f" on its {it.cpus} processors" if it.cpus else ""
    kind = "workers" if it.input.library == "pytorch" else "parallel calls"
    ahead = f"{it.prefetch} batches ahead {'each' if it.input.library == 'pytorch' else 'in all'}"
    room = f" of its {job.spec.host_memory_gib:,.0f} GiB" if job.spec.host_memory_gib else ""
    return f"{it.workers} {kind} in each of {it.readers:,} ranks that load{on}, {ahead}: {units.bytes_si(it.buffer_bytes)} of memory on a node{room}"


def _host(job: Job) -> Iterator[Fact]:
    """What of a node's memory and NVMe offload takes beside the batches that are read ahead."""
    spec, off, read = job.spec, job.host, job.reading.buffer_bytes
    if off is None:
        return
    room = f"{units.gib(off.memory_room)} of a node" if off.memory_room is not None else "a memory that the catalog does not know"
    yield "Host memory", f"{units.gib(off.memory_bytes)} for what leaves the GPUs and {units.bytes_si(read)} for batches that are read ahead, of {room}"
    if off.nvme_bytes:
        room = units.bytes_si(off.nvme_room) if off.nvme_room is not None else "a size that the catalog does not know"
        yield "Host NVMe", f"{units.bytes_si(off.nvme_bytes)} under {spec.offload_path}, of {room}"


def _nearer(it: Reading) -> Iterator[Fact]:
    """Copies and caches, with what they take."""
    stage, cache = it.input.stage, it.input.cache
    if stage:
        source = stage.source or "the bucket that is told with the job"
        where = f"{stage.target} on each node's NVMe" if stage.local else stage.target
        part = "a part on each node of" if stage.share else "all of"
        yield "Copied before the start", f"{part} {source}, to {where}"
    if cache and cache.kind == "nvme":
        yield "Cache", f"{cache.path} on each node's NVMe" + (f", {units.bytes_si(it.node_bytes)} with what is copied there" if it.node_bytes else "")
    elif cache:
        held = it.cached_bytes or 0
        share = f", {min(1.0, held / it.input.size_bytes):.0%} of the data set" if it.input.size_bytes else ""
        yield "Cache", f"{cache.kind} on {cache.servers} hosts of {cache.pool}: {units.bytes_si(held)}{share}"


def assumptions(jobs: Mapping[str, Job]) -> Iterator[str]:
    """What the figures above rest on without a word in the blueprint."""
    told, said = [job.spec.failures for _, job in sorted(jobs.items())], []
    if any(failures.per_1000_node_days == ASSUMED_PER_1000_NODE_DAYS for failures in told):
        low, high = PUBLISHED_PER_1000_NODE_DAYS
        said.append(f"{ASSUMED_PER_1000_NODE_DAYS:g} failures for 1,000 nodes and day, each of which stops the job ({low:.1f} to {high:.1f} published in arXiv:2407.21783 and arXiv:2410.21680)")
    if any(failures.restart_s == ASSUMED_RESTART_S for failures in told):
        said.append(f"{units.seconds(ASSUMED_RESTART_S)} from a failure until the job reads its checkpoint (a judgement; accounts of arXiv:2402.15627 give less for detection and diagnosis, unverified)")
    if any(failures.repair_s == ASSUMED_REPAIR_S for failures in told):
        said.append(f"{units.seconds(ASSUMED_REPAIR_S)} until a failed node is back (nobody publishes it)")
    if any(failures.availability is None for failures in told):
        said.append(f"all its nodes for a job for {ASSUMED_AVAILABILITY:.0%} of the time where no availability is asked for")
    if said:
        yield f"Assumed of failures: {'; '.join(said)}."
