"""The two files of a job: where every rank sits, and the batch script that starts it there."""

from __future__ import annotations

from ...design.model import Design, Partition
from ...placement import Placement
from ...render import fold, render
from .nodes import ranks_follow_sockets


def rank_file(placement: Placement) -> str:
    """One host name a line: line k + 1 is rank k. No bracket, blank or comment: ``srun`` takes the lines literally."""
    return render("slurm/job.ranks.j2", hosts=[host for host in placement.hosts for _ in range(placement.gpus_per_node)])


def batch_script(design: Design, name: str, placement: Placement) -> str:
    """The script for ``sbatch``. Raises LookupError when no queue holds the pool of the job's hosts."""
    pool = design.pool_of(placement.hosts[0])
    partition = _partition(design, pool.name)
    return render(
        "slurm/job.sbatch.j2",
        job=name,
        partition=partition.name,
        time=partition.max_time,
        nodes=len(placement.hosts),
        nodelist=fold(placement.hosts),
        gpus=placement.gpus_per_node,
        cpus_per_task=pool.system.cpus // placement.gpus_per_node,
        # Binding to the wrong socket is worse than none.
        cpu_bind="cores" if ranks_follow_sockets(pool) else "none",
    )


def _partition(design: Design, pool: str) -> Partition:
    """The queue of a pool's jobs: the default one if it holds the pool, else the first by name that does."""
    holding = [p for p in design.scheduler.partitions if pool in p.pools]
    if not holding:
        raise LookupError(f"no Slurm partition holds pool {pool}")
    return min(holding, key=lambda p: (not p.default, p.name))
