"""Design + job → Placement: hosts in rank order, with what no order can beat. On the planned fabric, or on one that was found."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from iacgen.design.fabric.hierarchy import Hierarchy
from iacgen.design.model import Design, Pool
from iacgen.diagnostics import Diagnostic
from iacgen.training.links import links
from iacgen.training.plan import Job

from .assumptions import EXPOSED
from .choice import Choice, choose, mixed_stages
from .cost import Order, cost
from .ground import islands, tiers_of, uncounted
from .idle import idle_hosts, standby
from .model import Cost, Move, Placement, Why
from .replacement import replaced
from .spans import spans
from .tiers import Tiers, alone, of_fabric

STAY = 1.005
"""An order in which others took the place of failed hosts is kept up to this many times the cost of one made anew: running jobs and pull
requests stay as they are. With more failures than spares it is made anew."""


@dataclass(frozen=True)
class Ground:
    """Hosts of the pool that have a place, as ``tiers`` counts them, and why the others have none. ``uncounted``: what ``tiers`` does not count,
    in words for the bound."""

    hosts: tuple[str, ...]
    tiers: Tiers
    away: Mapping[str, Why]
    uncounted: str = ""

    def up(self, pool: Pool) -> list[str]:
        """Its hosts that are not down."""
        return [host for host in self.hosts if host not in pool.down]


@dataclass(frozen=True)
class Chosen:
    """The choice ``made``, the hosts that took another's place in it, the choice ``before`` that (None where none did), and one made anew for the hosts that are up."""

    made: Choice
    moves: tuple[Move, ...]
    before: Choice | None
    fresh: Choice


def place(design: Design, pool_name: str, job: Job, found: Hierarchy | None = None) -> tuple[Placement | None, list[Diagnostic]]:
    """Hosts of the pool for a job, in rank order; or None and why not (ids IAC40x).

    Hosts that are down get no rank. Spares stay idle as long as enough other hosts are up. ``found`` is the fabric that exists, in place
    of the planned one.
    """
    pool = design.pools[pool_name]
    ground = ground_of(design, pool, job, found)
    if findings := refusals(design, pool, job, ground, found):
        return None, findings
    try:
        chosen = chosen_on(ground, pool, job)
    except LookupError:
        return None, [split(pool, ground, job)]
    return placement_on(ground, pool, job, chosen.made, chosen.moves, chosen.before.cost if chosen.before else None), []


def ground_of(design: Design, pool: Pool, job: Job, found: Hierarchy | None) -> Ground:
    """What the job stands on: the fabric that was found, else the planned one."""
    return _found(pool, found, job) if found else _planned(design, pool, _together(job), job)


def _together(job: Job) -> int:
    """Hosts that NVLink joins, or the torus of a TPU pod."""
    return links(job.spec).domain // job.spec.gpus_per_node


def _planned(design: Design, pool: Pool, together: int, job: Job) -> Ground:
    fabric = design.fabric_of(pool.name, "compute")
    hosts = tuple(pool.hosts)
    tiers = of_fabric(fabric, pool.name, hosts) if fabric else alone(len(hosts))
    if together > 1:
        joined = np.array([pool.index(host) // together for host in hosts])
        tiers = replace(tiers, domain=joined, nvlink_Bps=_nvlink_Bps(job))
    return Ground(hosts, tiers, {})


def _found(pool: Pool, found: Hierarchy, job: Job) -> Ground:
    there = [host for host in pool.hosts if host in found.index]
    one, apart = islands(found.only(there), job.grid.nodes, pool.down)
    if _together(job) < 2:  # blocks of Slurm, for example, of machines whose NVLink ends in the host
        one = replace(one, domains=())
    nic = pool.system.nics.get("compute")
    tiers = tiers_of(one, nic.count * nic.gbps * 1e9 / 8 if nic else None, _nvlink_Bps(job))
    away: dict[str, Why] = dict.fromkeys(set(pool.hosts) - set(there), "place unknown")
    return Ground(one.hosts, tiers, away | dict.fromkeys(apart, "apart"), uncounted(one, tiers))


def _nvlink_Bps(job: Job) -> float:
    return links(job.spec).nvlink * job.spec.gpus_per_node


def chosen_on(ground: Ground, pool: Pool, job: Job) -> Chosen:
    """The order for the hosts that are up, as indices into those of the ground. Raises LookupError where each splits a tensor group."""
    at = np.array([i for i, host in enumerate(ground.hosts) if host not in pool.down], dtype=np.int64)
    fresh = choose(ground.tiers.only(at), job.grid, job.traffic, EXPOSED)
    fresh = replace(fresh, order=at[fresh.order])
    failed = {i for i, host in enumerate(ground.hosts) if host in pool.down}
    if not failed or len(failed) > max(1, pool.spares):
        return Chosen(fresh, (), None, fresh)
    before = choose(ground.tiers, job.grid, job.traffic, EXPOSED)
    free = np.setdiff1d(np.arange(ground.tiers.hosts), before.order)
    order = replaced(ground.tiers, job.grid, job.traffic, EXPOSED, before.order, failed, standby(ground.tiers, before.order, free, pool.spares))
    if order is None:
        return Chosen(fresh, (), None, fresh)
    price = cost(ground.tiers, job.grid, job.traffic, order, EXPOSED)
    if price.total_s > STAY * fresh.cost.total_s:
        return Chosen(fresh, (), None, fresh)
    return Chosen(replace(fresh, order=order, cost=price), moves_between(ground, before.order, order), before, fresh)


def moves_between(ground: Ground, before: Order, after: Order) -> tuple[Move, ...]:
    """The hosts of ``before`` that another stands for in ``after``."""
    return tuple(Move(int(v), ground.hosts[before[v]], ground.hosts[after[v]]) for v in np.flatnonzero(after != before))


def placement_on(ground: Ground, pool: Pool, job: Job, made: Choice, moves: tuple[Move, ...] = (), unmoved: Cost | None = None) -> Placement:
    """A choice with the names of hosts, why the others idle, and how far its groups reach. ``unmoved``: the cost before the ``moves``."""
    tiers = ground.tiers
    down: dict[str, Why] = dict.fromkeys((host for host in pool.hosts if host in pool.down), "down")
    up = np.array([i for i, host in enumerate(ground.hosts) if host not in pool.down], dtype=np.int64)
    index = {int(h): i for i, h in enumerate(up)}
    within = np.array([index[int(h)] for h in made.order], dtype=np.int64)
    return Placement(
        job=job.name,
        hosts=tuple(ground.hosts[i] for i in made.order),
        idle=idle_hosts(tiers.only(up), within, [ground.hosts[i] for i in up], max(0, pool.spares - len(pool.down)), {**ground.away, **down}, pool.hosts),
        gpus_per_node=job.spec.gpus_per_node,
        cost=made.cost,
        sorted_cost=made.by_name,
        bound=replace(made.bound, why=made.bound.why + ground.uncounted),
        spans=spans(tiers, job.grid, job.traffic, made.order),
        moves=moves,
        unmoved_cost=unmoved,
        mixed_stages=mixed_stages(tiers, job.grid, made.order),
        groups=tiers.groups,
        seat=tuple(tuple(labels[made.order].tolist()) for labels in tiers.labels),
        tried=made.tried,
        by_name=bool((made.order == up[: len(made.order)]).all()),
    )


def recounted(design: Design, pool_name: str, job: Job, hosts: Sequence[str], found: Hierarchy | None = None) -> Cost:
    """The cost of an order that is known by its hosts alone, as one is that was read from a file. Raises KeyError for a host that the fabric does
    not hold, ValueError for an order that is none."""
    ground = ground_of(design, design.pools[pool_name], job, found)
    index = {host: i for i, host in enumerate(ground.hosts)}
    return cost(ground.tiers, job.grid, job.traffic, np.array([index[host] for host in hosts], dtype=np.int64), EXPOSED)


def natural(name: str) -> list[tuple[int, str]]:
    """Sort key that puts gpu2 before gpu10."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"([0-9]+)", name)]


def refusals(design: Design, pool: Pool, job: Job, ground: Ground, found: Hierarchy | None) -> list[Diagnostic]:
    """Why there can be no order of this job: too few hosts that are up, or none that a fabric joins (IAC401, IAC403)."""
    need, spec, up, away = job.grid.nodes, job.spec, len(ground.up(pool)), len(ground.away)
    connected = bool(found or design.fabric_of(pool.name, "compute") or pool.count <= _together(job))
    findings = []
    if need > up:
        lost = [f"{len(pool.down)} of them down"] * bool(pool.down) + [f"{away} without a place on the fabric that was found, or on another part of it"] * bool(away)
        message = f"{spec.name} needs {need} hosts; pool {pool.name} has {pool.count}{''.join(f', {words}' for words in lost)}"
        findings.append(Diagnostic("IAC401", "too-few-hosts", "error", message, spec.at("count"), help=f"use at most {up} hosts, or raise nodes.{pool.name}.count"))
    if need > 1 and not connected:
        message = f"{spec.name} runs on {need} hosts of pool {pool.name}, which no compute fabric connects"
        findings.append(Diagnostic("IAC403", "no-compute-fabric", "error", message, spec.at("nodes")))
    return findings


def split(pool: Pool, ground: Ground, job: Job) -> Diagnostic:
    """Too few hosts are left in some NVLink domains for whole tensor groups."""
    spec, group = job.spec, job.grid.tensor
    whole = sum(size // group for size in Counter(int(domain) for domain, host in zip(ground.tiers.joined, ground.hosts, strict=True) if host not in pool.down).values())
    message = f"{spec.name} needs {job.grid.nodes // group} tensor groups of {group} hosts in one NVLink domain each; the hosts that are up in pool {pool.name} hold {whole}"
    return Diagnostic("IAC404", "tensor-group-split", "error", message, spec.at("parallel", "tensor"), help=f"use at most {whole * group} hosts, or a smaller tensor size")
