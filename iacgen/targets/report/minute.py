"""The figures that a director asks for, each with where it comes from: the blueprint's key, the catalog's entry, the page of the formula."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from iacgen import units
from iacgen.design.facility import Facility
from iacgen.design.model import Design
from iacgen.placement import Placement
from iacgen.placement.project import Project
from iacgen.training import Job

from . import times
from .cluster import Row, Table

DAY_S = 86400


def minute(project: Project) -> Table:
    """What it is, GPUs, power, then of each job time, tokens, cost and placement, then what was found and left."""
    rows = [*_cluster(project.design), *(row for name, job in sorted(project.jobs.items()) for row in _job(job, project.placements[name], project.design)), _left(project)]
    return Table(("In one minute", "Figure", "Where it comes from"), tuple(rows))


def _cluster(design: Design) -> Iterator[Row]:
    pools = list(design.pools.values())
    sites = ", ".join(dict.fromkeys(f"{site.name} ({site.kind})" for site in design.sites.values()))
    yield "What it is", f"{sum(p.count for p in pools):,} machines in {sites}", "sites and nodes of the blueprint"
    for gpu in sorted({p.gpu.name for p in pools if p.gpu}):
        of = [p for p in pools if p.gpu and p.gpu.name == gpu]
        whence = "; ".join(f"nodes.{p.name}.count {p.count:,} x {p.system.gpus} of catalog entry {p.system.id}" for p in of)
        yield "GPUs", f"{sum(p.count * p.system.gpus for p in of):,} {gpu}", whence
    for facility in design.facilities.values():
        yield f"Power of {facility.site}, at most", units.kilowatts(facility.power_w), _power(facility, design)


def _power(facility: Facility, design: Design) -> str:
    known = [p for p in design.pools.values() if p.site == facility.site and p.system.power_kw]
    parts = [f"{p.count:,} x {p.system.power_kw:g} kW of catalog entry {p.system.id}" for p in known]
    gaps = [f"0 W for {', '.join(facility.unknown)}, not published"] if facility.unknown else []
    return "; ".join([*parts, "switches by the catalog (docs/facility.md)", *gaps])


def _job(job: Job, placement: Placement, design: Design) -> Iterator[Row]:
    name = job.name
    if job.step is None:
        yield f"Step of {name}", "unknown", f"docs/step-time.md has no figures for {job.spec.gpu.name}"
    else:
        share, rate = job.reliability.effective_share, job.step.tokens_per_s * DAY_S
        yield f"Step of {name}", f"{units.seconds(job.step.seconds)} (predicted)", f"training.{name} of the blueprint, formulas of docs/step-time.md, figures under Assumptions"
        lost = f"; {rate * share / 1e9:,.4g} x 10^9 after failures and saves" if share else ""
        yield f"Tokens a day of {name}", f"{rate / 1e9:,.4g} x 10^9 while it steps{lost}", f"{job.spec.global_batch:,} x {job.spec.sequence:,} tokens a step" + ("; share of docs/running.md" if share else "")
        yield _cost(job, design, placement)
    yield f"Placement of {name}", _bound(placement), "docs/placement.md; the bound that no order beats is under Placement of the job"


def _cost(job: Job, design: Design, placement: Placement) -> Row:
    label, key = f"Cost of a run of {job.name}", f"training.{job.name}.assume.gpu_hour"
    run, price = times.course_of(job, design.pool_of(placement.hosts[0]), design)
    if run is None or run.elapsed_s == inf:
        return label, "unknown: the run never ends", "docs/running.md"
    length = f"{run.tokens / 1e12:,.4g} x 10^12 tokens in {run.days:,.1f} days"
    if run.cost is None:
        return label, f"unknown, for {length}", f"no price of an hour is in the catalog; {key} states one"
    stated = job.spec.wanted.gpu_hour
    return label, f"about {run.cost:,.0f} {job.spec.wanted.currency if stated else 'USD'} for {length}", f"{key} of the blueprint" if stated or price is None else price.whence


def _bound(placement: Placement) -> str:
    if not placement.cost.families:
        return "nothing leaves a host"
    return "at its bound: no order costs less" if placement.proved else f"at most {placement.ratio - 1:.1%} above its bound"


def _left(project: Project) -> Row:
    found = [f for f in project.left if f.severity in ("error", "warning")]
    told = ", ".join(f"{f.id} {f.slug}" for f in found)
    return "Risks found and left", told or "none", f"iacgen check; iacgen explain {found[0].id if found else ''}".rstrip() if found else "iacgen check"
