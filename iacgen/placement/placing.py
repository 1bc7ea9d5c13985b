"""Design + job → Placement: hosts in rank order, never dearer than sorted host names, but on a dragonfly mixed.

There the tiers' uplinks are not what counts: two groups are joined by few links, and hosts side by side all send over the same ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from iacgen.design.fabric.model import Fabric
from iacgen.design.model import Design, Pool
from iacgen.diagnostics import Diagnostic
from iacgen.training.links import links
from iacgen.training.plan import Job

from .choice import choose
from .cost import Order, cost
from .model import IdleHost, Placement
from .order import as_they_come
from .tiers import alone, of_fabric


def place(design: Design, pool_name: str, job: Job) -> tuple[Placement | None, list[Diagnostic]]:
    """Hosts of the pool for a job, in rank order; or None and why not (ids IAC40x).

    Hosts that are down get no rank. Spares stay idle as long as enough other hosts are up.
    """
    pool = design.pools[pool_name]
    fabric = design.fabric_of(pool_name, "compute")
    together = links(job.spec).domain // job.spec.gpus_per_node  # hosts that NVLink joins, or the torus of a TPU pod
    findings = _refusals(pool, pool.count - len(pool.down), fabric is not None or pool.count <= together, job)
    if findings:
        return None, findings
    up = [host for host in pool.hosts if host not in pool.down]  # in the order of their numbers
    tiers = of_fabric(fabric, pool_name, up) if fabric else alone(len(up))
    if together > 1:
        joined = np.array([pool.index(host) // together for host in up])
        tiers = replace(tiers, domain=joined, nvlink_Bps=links(job.spec).nvlink * job.spec.gpus_per_node)
    if fabric and fabric.mixes and job.grid.tensor == 1:
        order = _mixed(fabric, up, job.grid.nodes)
        best, by_name = (cost(tiers, job.grid, job.traffic, one) for one in (order, as_they_come(job.grid)))
    else:
        try:
            order, best, by_name = choose(tiers, job.grid, job.traffic)
        except LookupError:
            return None, [_split(pool, up, job, together)]
    hosts = tuple(up[i] for i in order)
    return Placement(job.name, hosts, _idle(pool, up, hosts), job.spec.gpus_per_node, best, by_name), []


def _mixed(fabric: Fabric, up: Sequence[str], nodes: int) -> Order:
    """So many of the hosts that are up, spread evenly over the groups of a dragonfly, in an order that no shift of ranks turns against one
    link: as indices into ``up``."""
    number = {host: i for i, host in enumerate(up)}
    lie = [host for host in fabric.hosts if host in number]
    some = tuple(lie[i * len(lie) // nodes] for i in range(nodes))
    ranks = fabric.rank_order if some == fabric.hosts else fabric.mixed(some)
    return np.array([number[host] for host in ranks], dtype=np.int64)


def natural(name: str) -> list[tuple[int, str]]:
    """Sort key that puts gpu2 before gpu10."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"([0-9]+)", name)]


def _refusals(pool: Pool, up: int, connected: bool, job: Job) -> list[Diagnostic]:
    need, spec = job.grid.nodes, job.spec
    findings = []
    if need > up:
        down = f", {pool.count - up} of them down" if up < pool.count else ""
        message = f"{spec.name} needs {need} hosts; pool {pool.name} has {pool.count}{down}"
        findings.append(Diagnostic("IAC401", "too-few-hosts", "error", message, spec.at("count"), help=f"use at most {up} hosts, or raise nodes.{pool.name}.count"))
    if need > 1 and not connected:
        message = f"{spec.name} runs on {need} hosts of pool {pool.name}, which no compute fabric connects"
        findings.append(Diagnostic("IAC403", "no-compute-fabric", "error", message, spec.at("nodes")))
    return findings


def _split(pool: Pool, up: Sequence[str], job: Job, together: int) -> Diagnostic:
    """Too few hosts are left in some NVLink domains for whole tensor groups."""
    spec, group = job.spec, job.grid.tensor
    whole = sum(size // group for size in Counter(pool.index(host) // together for host in up).values())
    message = f"{spec.name} needs {job.grid.nodes // group} tensor groups of {group} hosts in one NVLink domain each; the hosts that are up in pool {pool.name} hold {whole}"
    return Diagnostic("IAC404", "tensor-group-split", "error", message, spec.at("parallel", "tensor"), help=f"use at most {whole * group} hosts, or a smaller tensor size")


def _idle(pool: Pool, up: Sequence[str], hosts: Sequence[str]) -> tuple[IdleHost, ...]:
    """Hosts without a rank in the order of their numbers. The spares are the last of those that are up, so that jobs of one pool mostly
    agree on them."""
    used = set(hosts)
    free = [host for host in up if host not in used]
    if not free and not pool.down:
        return ()
    spare = set(free[len(free) - min(pool.spares, len(free)) :])
    why = {host: "spare" if host in spare else "not needed" for host in free} | {host: "down" for host in pool.down}
    return tuple(IdleHost(host, why[host]) for host in pool.hosts if host in why)
