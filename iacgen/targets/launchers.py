"""Launchers beside Slurm, for every job: torchrun node by node, and Open MPI with its rank file. Both keep the order of the placement.

``hostfile`` is one for DeepSpeed, Open MPI and Horovod, which all read ``host slots=N`` and count ranks host by host (horovod 0.28.1,
runner/common/util/hosts.py, where a comment or an empty line ends the start: none may stand there; prrte, schizo). Horovod gets no
more than that and a line of ``mpirun.sh`` that says how: its last release is 0.28.1 of 2023.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from iacgen.render import render as render_template
from iacgen.render.order import hostfile, rankfile

if TYPE_CHECKING:
    from iacgen.design.model import Pool
    from iacgen.placement.project import Project


def render(project: Project) -> dict[str, str]:
    """``training/<job>/``: ``torchrun.sh``, ``mpirun.sh`` and ``rankfile`` for each job, and the ``hostfile`` of those that are not DeepSpeed's."""
    tree = {}
    for name, job in project.jobs.items():
        placement = project.placements[name]
        pool, folder = project.design.pool_of(placement.hosts[0]), f"training/{name}"
        words = {"job": name, "nodes": len(placement.hosts), "ranks_per_node": placement.gpus_per_node, "world": job.world, "first_host": placement.hosts[0]}
        tree[f"{folder}/torchrun.sh"] = render_template("training/torchrun.sh.j2", **words)
        tree[f"{folder}/mpirun.sh"] = render_template("training/mpirun.sh.j2", **words)
        tree[f"{folder}/rankfile"] = rankfile(placement.hosts, cores(pool, placement.gpus_per_node))
        if job.spec.framework != "deepspeed":
            tree[f"{folder}/hostfile"] = hostfile(placement.hosts, placement.gpus_per_node)
    return tree


def cores(pool: Pool, ranks_per_node: int) -> tuple[str, ...]:
    """Cores of each local rank, first and last by their logical number: an even share of the socket that its GPU hangs on, or of all
    sockets where the catalog does not know that."""
    system = pool.system
    sockets = system.gpu_numa if len(system.gpu_numa) == ranks_per_node else (0,) * ranks_per_node
    size = system.cores_per_socket if len(system.gpu_numa) == ranks_per_node else system.cores_per_socket * system.sockets
    out = []
    for rank, socket in enumerate(sockets):
        share = max(1, size // sockets.count(socket))
        first = socket * size + sockets[:rank].count(socket) * share
        out.append(f"{first}-{first + share - 1}")
    return tuple(out)
