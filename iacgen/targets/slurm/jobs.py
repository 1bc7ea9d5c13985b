"""The files of a job: where every rank sits, whether a node is fit for it, and the batch script that starts it there."""

from __future__ import annotations

from collections.abc import Iterator

from ... import units
from ...design.model import Design, Partition, Pool
from ...placement import Placement
from ...render import fold, render
from ...render.order import slurm_ranks
from ...training import Job
from ...training.checkpoints import Checkpoints
from .nodes import ranks_follow_sockets

_LATEST = {"megatron": "latest_checkpointed_iteration.txt", "deepspeed": "latest"}
"""The file that names the last whole save, below the folder of saves (Megatron-LM checkpointing.py; DeepSpeed engine.py)."""


def rank_file(placement: Placement) -> str:
    """One host name a line: line k + 1 is rank k. No bracket, blank or comment: ``srun`` takes the lines literally."""
    return slurm_ranks(placement.hosts, placement.gpus_per_node)


def health_script(design: Design, job: Job, placement: Placement) -> str:
    """What each node is asked before the ranks start: GPUs, links, adapters and the file systems of the job."""
    pool = design.pool_of(placement.hosts[0])
    return render(
        "slurm/job.health.j2",
        job=job.name,
        gpus=placement.gpus_per_node,
        nvlink=pool.system.nvlink_domain_gpus > 1,
        imex=pool.system.nvlink_domain_servers > 1,
        ports=tuple(_ports(design, pool)),
        efa=pool.efa,
        mounts=mounts(design, job),
    )


def _ports(design: Design, pool: Pool) -> Iterator[tuple[str, int]]:
    """(name, Gb/s) of the RDMA ports that the fabrics of a pool use, where their names are known."""
    for purpose in ("compute", "storage"):
        fabric = design.fabric_of(pool.name, purpose)
        if fabric and fabric.technology in ("infiniband", "roce"):
            for name in fabric.nics[pool.name].rdma_names:
                yield name, fabric.link_gbps[pool.name]


def mounts(design: Design, job: Job) -> tuple[str, ...]:
    """Mount points that the job reads or writes, sorted."""
    paths = [path for path in (job.spec.data_path, job.spec.entrypoint) if path]
    used = {job.spec.checkpoint_to}
    every = {store.name: store.mount for store in design.storage.values() if store.kind != "s3"}
    return tuple(sorted(mount for name, mount in every.items() if name in used or any(path == mount or path.startswith(f"{mount}/") for path in paths)))


def batch_script(design: Design, job: Job, placement: Placement) -> str:
    """The script for ``sbatch``. Raises LookupError when no queue holds the pool of the job's hosts."""
    pool = design.pool_of(placement.hosts[0])
    partition = _partition(design, pool.name)
    saves, spec = job.checkpoints, job.spec
    mount = getattr(design.storage.get(spec.checkpoint_to or ""), "mount", None)
    return render(
        "slurm/job.sbatch.j2",
        job=job.name,
        saving=_saving(saves),
        notice=saves.notice_s if saves else None,
        saved=_saved(spec.framework, f"{mount}/checkpoints/{job.name}") if mount else None,
        stage=spec.input is not None and spec.input.stage is not None,
        partition=partition.name,
        time=partition.max_time,
        nodes=len(placement.hosts),
        nodelist=fold(placement.hosts),
        gpus=placement.gpus_per_node,
        node_cpus=pool.system.cpus,
        cpus_per_task=pool.system.cpus // placement.gpus_per_node,
        # Binding to the wrong socket is worse than none.
        cpu_bind="cores" if ranks_follow_sockets(pool) else "none",
    )


def _saved(framework: str, folder: str) -> tuple[str, str]:
    """The command that tells which save is the last, and its one word: a new save changes what it says."""
    latest = _LATEST.get(framework)
    return ("cat", f"{folder}/{latest}") if latest else ("ls", folder)


def _saving(saves: Checkpoints | None) -> tuple[str, ...]:
    """How it saves and goes on, in lines of comment."""
    if saves is None:
        return ("It saves nothing: after a failure it starts from the beginning.",)
    known = "predicted" if saves.step_known else "assumed: the time of a step is not known"
    return (
        f"It saves every {saves.steps:,} steps of about {units.seconds(saves.step_s)} ({known}): {units.seconds(saves.interval_s)} of work lose least",
        f"where a save takes {units.seconds(saves.save_s)} and a failure comes every {units.seconds(saves.mttf_s)} (Daly 2006).",
        f"{saves.notice_s} s before its time is up the ranks get SIGTERM: they save and end, and it goes back into the queue. So does a run",
        "that fails, unless two runs in a row saved nothing: then it is held. Exit 0: done; 1: could not start, or held; else as the ranks ended.",
    )


def _partition(design: Design, pool: str) -> Partition:
    """The queue of a pool's jobs: the default one if it holds the pool, else the first by name that does."""
    holding = [p for p in design.scheduler.partitions if pool in p.pools]
    if not holding:
        raise LookupError(f"no Slurm partition holds pool {pool}")
    return min(holding, key=lambda p: (not p.default, p.name))
