"""slurm.conf against the design: nodes, addresses, hardware, queues, controllers, hosts that are down."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from iacgen.diagnostics.model import Diagnostic

from ..findings import finding, some
from .expected import slurm_nodes
from .files import Line, expand, lines


def check_agreement(text: str, design: Any) -> list[Diagnostic]:
    """Findings where a slurm.conf, whose lines and hostlists are well formed, says other than the design."""
    parsed = list(lines(text))
    faults = [*_nodes(parsed, design), *_queues(parsed, design), *_controllers(parsed, design), *_down(parsed, design)]
    return [finding("malformed-slurm-conf", f"slurm.conf: {fault}") for fault in faults]


def _nodes(parsed: Sequence[Line], design: Any) -> Iterator[str]:
    planned, seen = slurm_nodes(design), set()
    for line in (line for line in parsed if line.kind == "nodename"):
        names, addresses = expand(line.get("NodeName")), expand(line.get("NodeAddr"))
        seen |= set(names)
        known = [name for name in names if name in planned]
        wrong = [name for name, address in zip(names, addresses, strict=True) if name in planned and str(design.address(name)) != address] if addresses else []
        if wrong:
            yield f"{some(wrong)}: not the planned address"
        if known:
            yield from _hardware(line, known[0], design)
    if seen != planned:
        yield f"{some(seen ^ planned)}: nodes of the design or of the file, not of both"


def _hardware(line: Line, host: str, design: Any) -> Iterator[str]:
    pool = design.pool_of(host)
    system = pool.system
    exact = {"CPUs": system.cpus, "SocketsPerBoard": system.sockets, "CoresPerSocket": system.cores_per_socket, "ThreadsPerCore": system.threads_per_core}
    for key, value in exact.items():
        if line.get(key) != str(value):
            yield f"{key}={line.get(key)} where {system.id} has {value}"
    memory = line.get("RealMemory")
    if not re.fullmatch("[0-9]+", memory) or not 0 < int(memory) < system.memory_mib:
        yield f"RealMemory={memory} promises what {system.id} with {system.memory_mib} MiB does not have left"
    gpus = f"gpu:{pool.gpu.slurm_type}:{system.gpus}" if pool.gpu else ""
    if line.get("Gres") != gpus:
        yield f"Gres={line.get('Gres')} where {system.id} has {gpus or 'no GPU'}"


def _queues(parsed: Sequence[Line], design: Any) -> Iterator[str]:
    want = {p.name: ({host for name in p.pools for host in design.pools[name].hosts}, p.default, p.max_time) for p in design.scheduler.partitions}
    got = {line.get("PartitionName"): (set(expand(line.get("Nodes"))), line.get("Default") == "YES", line.get("MaxTime")) for line in parsed if line.kind == "partitionname"}
    for name in sorted(want.keys() | got.keys()):
        if want.get(name) != got.get(name):
            yield f"partition {name} has other nodes, another time limit or another default than the blueprint says"


def _controllers(parsed: Sequence[Line], design: Any) -> Iterator[str]:
    named = [line.get("SlurmctldHost") for line in parsed if line.kind == "slurmctldhost"]
    planned = [f"{host}({design.address(host)})" if design.address(host) else host for host in design.scheduler.controllers]
    if not named or named != planned[: len(named)]:
        yield f"SlurmctldHost {', '.join(named) or 'is missing'}; the design has {', '.join(planned)}"


def _down(parsed: Sequence[Line], design: Any) -> Iterator[str]:
    said = {name for line in parsed if line.kind == "downnodes" for name in expand(line.get("DownNodes"))}
    known = {host for partition in design.scheduler.partitions for name in partition.pools for host in design.pools[name].down}
    if said != known:
        yield f"{some(said ^ known)}: down in the blueprint or in the file, not in both"
