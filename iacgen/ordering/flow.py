"""Designed jobs → their orders, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from iacgen.design.model import Design, Pool
from iacgen.diagnostics import Diagnostic
from iacgen.placement import place
from iacgen.placement.failover import failover
from iacgen.training import Job

from .ground import NoGround, Source, chosen
from .model import Ground, Ordering


@dataclass(frozen=True)
class Wish:
    """What the order is to be made for: ``down``, hosts that fail under it; ``fabric``, the name of one of those found; ``ratios``, what may leave
    the groups of its tiers (see ``ground.chosen``); ``prove_s``, how long the exact solver may look, in seconds of its work, None where it is not asked."""

    down: tuple[str, ...] = ()
    fabric: str | None = None
    ratios: Mapping[str, float] = field(default_factory=dict)
    prove_s: float | None = None


def ordered(design: Design, jobs: Mapping[str, Job], pools: Mapping[str, str], found: Sequence[Source] | None = None, wish: Wish = Wish()) -> tuple[list[Ordering], list[Diagnostic]]:
    """The order of each of ``jobs``, on the fabrics that were ``found``, else on the planned ones. ``pools``: job → the pool that it runs on.

    Jobs without an order have findings (IAC40x). Raises NoGround where the wish does not fit the cluster or the fabrics, ImportError where the
    solver is wanted and missing.
    """
    _known([design.pools[pools[name]] for name in jobs], wish.down)
    everyone = {host for pool in design.pools.values() for host in pool.hosts}
    out, findings = [], []
    for name, job in jobs.items():
        pool = design.pools[pools[name]]
        ground = _planned(design, pool) if found is None else chosen(found, pool, everyone, wish.fabric, wish.ratios)
        placement, wrong = place(design, pool.name, job, ground.found)
        findings += wrong
        if placement:
            ordering = Ordering(job, pool, placement, ground)
            if wish.prove_s is not None:
                ordering = _proved(design, ordering, wish.prove_s)
            if down := [host for host in wish.down if host in set(pool.hosts)]:
                ordering, wrong = _failed(design, ordering, down)
                findings += wrong
            out.append(ordering)
    return out, findings


def _proved(design: Design, ordering: Ordering, limit_s: float) -> Ordering:
    from iacgen.placement.proving import proved

    try:
        placement, proof = proved(design, ordering.pool.name, ordering.job, ordering.placement, limit_s, ordering.ground.found)
    except ValueError as error:
        raise NoGround(f"the exact solver does not take {ordering.ground.name}: {error}") from None
    return replace(ordering, placement=placement, proof=proof)


def _planned(design: Design, pool: Pool) -> Ground:
    fabric = design.fabric_of(pool.name, "compute")
    return Ground(fabric.name if fabric else None, "planned")


def _failed(design: Design, ordering: Ordering, down: Sequence[str]) -> tuple[Ordering, list[Diagnostic]]:
    change, findings = failover(design, ordering.pool.name, ordering.job, ordering.placement, down, ordering.ground.found)
    if change is None:
        return ordering, findings
    return replace(ordering, placement=change.after, change=change, before=ordering.placement), findings


def _known(pools: Sequence[Pool], down: Sequence[str]) -> None:
    """Raises NoGround for a host that no pool of the jobs has, and for one that is down already."""
    for host in down:
        pool = next((pool for pool in pools if host in set(pool.hosts)), None)
        if pool is None:
            there = ", ".join(f"{pool.host(0)} to {pool.host(pool.count - 1)}" for pool in {pool.name: pool for pool in pools}.values())
            raise NoGround(f"no pool of these jobs has a host {host}; there is {there}")
        if host in pool.down:
            raise NoGround(f"{host} is down already, in nodes.{pool.name}.down")
