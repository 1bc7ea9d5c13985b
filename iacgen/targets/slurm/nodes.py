"""NodeName, DownNodes and gres.conf lines: a line a pool, never a line a node."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from ...design.model import Design, Pool
from ...render import fold

# AWS ParallelCluster schedules 95 % of a machine's nominal memory by default, since kernel and firmware take a part that is
# known only at run time; a node that reports less than RealMemory drains.
_SCHEDULABLE = 0.95
_RESERVED_MIB = 16 * 1024  # of RealMemory, for daemons and the file system client; jobs never get it
_RESERVED_SHARE = 8  # but at most an eighth, on small machines


@dataclass(frozen=True)
class NodeLine:
    """What slurm.conf says of one pool. Memory in MiB; ``addresses`` and ``gres`` are empty where there are none."""

    names: str
    addresses: str
    system: str
    cpus: int
    sockets: int
    cores_per_socket: int
    threads_per_core: int
    memory_mib: int
    real_memory_mib: int
    reserved_mib: int
    gres: str


@dataclass(frozen=True)
class GresLine:
    """GPUs of one pool that hang on one socket. ``cores`` is empty where the catalog does not know the socket."""

    names: str
    type: str
    files: str
    cores: str


def slurm_pools(design: Design) -> list[Pool]:
    """The pools that some queue runs on, in the order of their names."""
    names = {name for partition in design.scheduler.partitions for name in partition.pools}
    return [design.pools[name] for name in sorted(names)]


def node_line(design: Design, pool: Pool) -> NodeLine:
    """One NodeName line. Cloud hosts have no planned address: their names resolve in the private zone."""
    system = pool.system
    real = int(system.memory_mib * _SCHEDULABLE)
    addresses = [design.address(host) for host in pool.hosts]
    return NodeLine(
        names=fold(pool.hosts),
        addresses=fold((str(a) for a in addresses), keep_order=True) if all(addresses) else "",
        system=system.id,
        cpus=system.cpus,
        sockets=system.sockets,
        cores_per_socket=system.cores_per_socket,
        threads_per_core=system.threads_per_core,
        memory_mib=system.memory_mib,
        real_memory_mib=real,
        reserved_mib=min(_RESERVED_MIB, real // _RESERVED_SHARE),
        gres=f"gpu:{pool.gpu.slurm_type}:{system.gpus}" if pool.gpu else "",
    )


def gres_lines(pool: Pool) -> list[GresLine]:
    """gres.conf lines of a pool, in the order of its GPUs: a line for each run of GPUs on one socket."""
    system = pool.system
    if not pool.gpu:
        return []
    sockets = system.gpu_numa or (None,) * system.gpus
    names = fold(pool.hosts)
    lines = []
    for socket, run in groupby(range(system.gpus), key=lambda gpu: sockets[gpu]):
        files = fold(f"/dev/nvidia{gpu}" for gpu in run)
        lines.append(GresLine(names, pool.gpu.slurm_type, files, "" if socket is None else _cores(socket, system.cores_per_socket)))
    return lines


def _cores(socket: int, per_socket: int) -> str:
    """Logical core numbers of a socket: socket by socket, as Slurm and ``lstopo -l`` count."""
    first = socket * per_socket
    return f"{first}-{first + per_socket - 1}"


def ranks_follow_sockets(pool: Pool) -> bool:
    """True when blocks of cores in the order of local ranks lie on the sockets of the GPUs of the same numbers."""
    sockets = pool.system.gpu_numa
    share, rest = divmod(pool.system.gpus, pool.system.sockets)
    return not rest and tuple(sockets) == tuple(gpu // share for gpu in range(pool.system.gpus))
