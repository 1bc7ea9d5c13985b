"""One order of hosts as every launcher reads it: hosts and slots in, text out.

``hosts`` are in rank order: rank r is local rank ``r % slots`` on ``hosts[r // slots]``. Every launcher gets the order in its own form,
and none is told to sort: MPI and DeepSpeed count ranks host by host of the hostfile, ``srun`` takes the rank file line by line,
``torchrun`` the number of each node. On Kubernetes no field pins a completion index to a node, since all pods of an Indexed Job share one
template, and a Job for each node would be thousands of them: so the pods go to the nodes in any order, and each looks up the rank of the
node that it came to. (Kueue deals indexes out along its topology labels, which are coarser than an order of nodes.)
"""

from __future__ import annotations

from collections.abc import Sequence

from .filters import csv_text
from .hostlist import fold
from .templates import render

HOSTNAME = "kubernetes.io/hostname"


def hostfile(hosts: Sequence[str], slots: int) -> str:
    """``host slots=N``, a line a host: for DeepSpeed, Open MPI and Horovod. No comment, at which Horovod's reader would stop."""
    return render("training/hostfile.j2", hosts=hosts, slots=slots)


def rankfile(hosts: Sequence[str], cores: Sequence[str]) -> str:
    """``rank R=host slot=CORES``, a line a rank: for Open MPI. ``cores``: those of each local rank, by their logical numbers."""
    pairs = ((host, share) for host in hosts for share in cores)
    return render("training/rankfile.j2", ranks=((rank, host, share) for rank, (host, share) in enumerate(pairs)))


def slurm_ranks(hosts: Sequence[str], slots: int) -> str:
    """One host name a line: line k + 1 is rank k. No bracket, blank or comment: ``srun`` takes the lines literally."""
    return render("slurm/job.ranks.j2", hosts=[host for host in hosts for _ in range(slots)])


def node_ranks(hosts: Sequence[str]) -> str:
    """``host rank``, a line a host: what stands behind ``--node-rank`` of its ``torchrun``, and what a pod looks up by its node."""
    return render("training/node-ranks.j2", hosts=hosts)


def index_table(hosts: Sequence[str], slots: int) -> str:
    """CSV for a scheduler that pins pods itself: completion index, node, first and last rank."""
    rows = ((index, host, index * slots, (index + 1) * slots - 1) for index, host in enumerate(hosts))
    return csv_text([("completion_index", "node", "first_rank", "last_rank"), *rows])


def slurm_script(job: str, hosts: Sequence[str], slots: int) -> str:
    """A batch script of the form of a rank map that 22.05 to 26.05 obey: the rank file in front of one ``srun`` inside the job."""
    return render("slurm/order.sbatch.j2", job=job, hosts=hosts, nodes=len(hosts), nodelist=fold(hosts), slots=slots, world=len(hosts) * slots)


def indexed_job(job: str, hosts: Sequence[str], slots: int) -> str:
    """A ConfigMap with the rank of each node, and an Indexed Job of one pod a node on exactly these, for ``kubectl apply`` once its image is named."""
    words = {"job": job, "hosts": hosts, "first": hosts[0], "nodes": len(hosts), "slots": slots, "label": HOSTNAME}
    return render("training/indexed-job.yaml.j2", **words)


def order_files(job: str, hosts: Sequence[str], slots: int, cores: Sequence[str] | None = None) -> dict[str, str]:
    """Name → text of the order in every form. ``cores`` of each local rank, one each by its number where nobody knows them."""
    shares = tuple(cores or map(str, range(slots)))
    return {
        "hostfile": hostfile(hosts, slots),
        "rankfile": rankfile(hosts, shares),
        f"{job}.ranks": slurm_ranks(hosts, slots),
        f"{job}.sbatch": slurm_script(job, hosts, slots),
        "node-ranks": node_ranks(hosts),
        "indexes.csv": index_table(hosts, slots),
        "indexed-job.yaml": indexed_job(job, hosts, slots),
    }
