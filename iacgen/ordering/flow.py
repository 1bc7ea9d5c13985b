"""Designed jobs → their orders, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping

from iacgen.design.model import Design
from iacgen.diagnostics import Diagnostic
from iacgen.placement import place
from iacgen.training import Job

from .model import Ground, Ordering


def ordered(design: Design, jobs: Mapping[str, Job], pools: Mapping[str, str]) -> tuple[list[Ordering], list[Diagnostic]]:
    """The order of each of ``jobs``, on the planned fabric. ``pools``: job → the pool that it runs on. Jobs without one have findings (IAC40x)."""
    out, findings = [], []
    for name, job in jobs.items():
        pool = design.pools[pools[name]]
        placement, found = place(design, pool.name, job)
        findings += found
        if placement:
            fabric = design.fabric_of(pool.name, "compute")
            out.append(Ordering(job, pool, placement, Ground(fabric.name if fabric else None, "planned")))
    return out, findings
