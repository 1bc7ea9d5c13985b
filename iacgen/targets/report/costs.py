"""What the hours of a run cost: at the price that the blueprint states, else at the catalog's for the cloud's machine type."""

from __future__ import annotations

from dataclasses import dataclass

from iacgen.design.model import Pool
from iacgen.training import Job
from iacgen.training.course import Course

BOUGHT = {"on-demand": "on demand", "capacity-reservation": "on demand, as a reservation is billed", "capacity-block": "in a capacity block"}
"""A kind of capacity in words; a spot price is another one every hour and stands in no catalog."""


@dataclass(frozen=True)
class Price:
    """US dollars for a GPU and an hour, and ``whence``: of what, by whom and when."""

    gpu_hour: float
    whence: str


def price(pool: Pool) -> Price | None:
    """The catalog's price of a pool's machines as they are bought; None where it knows none."""
    offered, kind = pool.system.cloud, pool.capacity.kind
    if offered is None or kind not in BOUGHT:
        return None
    figure = "capacity_block_hour" if kind == "capacity-block" else "on_demand_hour"
    hour = getattr(offered, figure)
    if not hour:
        return None
    source = next(s for s in pool.system.sources if f"cloud.{figure}" in s.figures)
    note = f"; {source.note}" if source.note else ""
    return Price(hour / pool.system.gpus, f"a {pool.system.id} {BOUGHT[kind]} is {hour:g} USD an hour ({source.where}, {source.date}{note})")


def words(job: Job, run: Course, pool: Pool, known: Price | None) -> str:
    """The cost of a run and what it rests on, or why it is not known."""
    wanted, key = job.spec.wanted, f"training.{job.name}.assume.gpu_hour"
    hours = f"{run.gpu_hours:,.0f} {job.spec.gpu.noun}-hours"
    if run.cost is not None and wanted.gpu_hour:
        return f"{run.cost:,.0f} {wanted.currency}: {hours} at {wanted.gpu_hour:g} {wanted.currency} as stated"
    if run.cost is not None and known:
        return f"about {run.cost:,.0f} USD: {hours} at {known.gpu_hour:.4g} USD; {known.whence}; {key} states another price"
    spot = pool.system.cloud and pool.capacity.kind not in BOUGHT
    why = "a spot price changes by the hour" if spot else f"no price of {pool.system.name} for an hour is in the catalog"
    return f"unknown for {hours}: {why} ({key})"
