"""How long a step takes and why, other ways to cut the job, and what a whole run comes to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf

from iacgen import units
from iacgen.design.facility import energy
from iacgen.design.model import Design, Pool
from iacgen.training import Job
from iacgen.training.assume import MEANING, Assumptions, origin
from iacgen.training.auto import loss
from iacgen.training.course import Course, course
from iacgen.training.search import Found, Plan, search
from iacgen.training.step import PARTS, WORDS, StepTime

from . import costs
from .cluster import Fact, Row, Table

OPEN = frozenset({"micro_batch", "recompute", "zero"})
SHOWN = 3  # other ways on the page
OF_OFFLOAD = ("pcie_gbytes_per_s", "host_gbytes_per_s", "nvme_gbytes_per_s")


def facts(job: Job, pool: Pool, design: Design) -> Iterator[Fact]:
    """Speed of the job, and days, energy and cost of its run; nothing where nobody knows the time of a step."""
    if job.step is None:
        return
    chip = job.spec.gpu.noun
    yield "Step", _speed(job.step, chip)
    yield f"Use of the {chip}s", _use(job.step, chip)
    run, price = course_of(job, pool, design)
    assert run
    if run.elapsed_s == inf:
        yield "Run", "never ends: its nodes fail before a stretch of work is saved"
        return
    yield "Run", _run(job, run)
    yield "Energy", _energy(job, run, pool)
    yield "Cost", costs.words(job, run, pool, price)


def course_of(job: Job, pool: Pool, design: Design) -> tuple[Course | None, costs.Price | None]:
    """The run of a job and the catalog's price that it was counted with; no run where nobody knows the time of a step."""
    price = costs.price(pool)
    return course(job, _watts(pool), _pue(design, pool), price.gpu_hour if price else None), price


def _speed(step: StepTime, chip: str) -> str:
    return f"{units.seconds(step.seconds)} (predicted): {step.tokens_per_s:,.0f} tokens a second, {step.tokens_per_s_per_gpu:,.0f} on each {chip}"


def _use(step: StepTime, chip: str) -> str:
    return (
        f"{step.tflops_per_gpu:,.0f} TFLOP/s of the model on each {chip}, {step.mfu:.1%} of its dense bf16 peak (MFU); "
        f"{step.hardware_tflops_per_gpu:,.0f} TFLOP/s and {step.hfu:.1%} with what is computed again (HFU)"
    )


def _run(job: Job, run: Course) -> str:
    stated = "" if job.spec.wanted.tokens else " (none stated: a round number)"
    share = job.reliability.effective_share
    lost = f", {run.busy_s / 86400:,.1f} of them in steps that count" if share else ""
    return f"{run.days:,.1f} days for {run.tokens / 1e12:,.4g} x 10^12 tokens{stated}{lost}: {run.steps:,} steps"


def _energy(job: Job, run: Course, pool: Pool) -> str:
    if run.nodes_wh is None and not job.spec.gpu.tdp_w:
        return f"unknown: no power is published for {pool.system.name} (training.{job.name}.assume.node_power)"
    if run.nodes_wh is None:
        gpus = job.spec.gpus_per_node * (job.spec.gpu.tdp_w or 0)
        least = job.spec.nodes * gpus * run.elapsed_s / 3600
        return (
            f"about {least / 1e6:,.4g} MWh for the {job.spec.gpu.noun}s, {job.spec.gpus_per_node} of {job.spec.gpu.tdp_w} W (the most that a board draws) in each of {job.spec.nodes:,} nodes; "
            f"what else {pool.system.name} draws is not published (training.{job.name}.assume.node_power)"
        )
    watts = job.spec.wanted.node_watts
    each = f"{units.kilowatts(watts)} as stated" if watts else f"{units.kilowatts(_watts(pool) or 0)}, {'as at work' if pool.system.power_kw_typical else 'the most that one draws'}"
    hall = f"; {run.hall_wh / 1e6:,.4g} MWh with the hall" if run.hall_wh else "; what the hall adds is not known"
    return f"{run.nodes_wh / 1e6:,.4g} MWh for {job.spec.nodes:,} nodes of {each}{hall}"


def _watts(pool: Pool) -> float | None:
    kilowatts = pool.system.power_kw_typical or pool.system.power_kw
    return 1000 * kilowatts if kilowatts else None


def _pue(design: Design, pool: Pool) -> float | None:
    hall = design.facilities.get(pool.site)
    found = energy.energy(hall) if hall else None
    return found.pue if found else None


def parts(job: Job) -> Table | None:
    """The step by its parts, those that take no time left out."""
    step = job.step
    if step is None:
        return None
    rows: list[Row] = [(WORDS[name].capitalize(), units.seconds(step.parts[name]), f"{step.parts[name] / step.seconds:.1%}") for name in PARTS if step.parts[name] >= 5e-4 * step.seconds]
    rows.append(("Sum", units.seconds(step.seconds), "100.0%"))
    if step.hidden:
        rows.append(("Communication that computation hides", units.seconds(step.hidden), "beside it"))
    return Table(("Part of a step", "Time", "Share"), tuple(rows), right=2)


def ways(job: Job) -> Table | None:
    """This cut and the fastest others, by the rate that the adapters have before anything is placed."""
    if job.step is None:
        return None
    found = search(job.spec, OPEN, SHOWN)
    if not isinstance(found, Found):
        return None
    own = Plan(job.spec, job.step, job.memory)
    others = [plan for plan in (found.best, *found.others) if plan.words != own.words][:SHOWN]
    rows = [_way(own, own, "this job"), *(_way(plan, own, "") for plan in others)]
    return Table(("Ways to cut it", "Step", f"GiB on a {job.spec.gpu.noun}", "Against this job"), tuple(rows), right=2)


def _way(plan: Plan, own: Plan, verdict: str) -> Row:
    if not verdict:
        verdict = f"{units.seconds(own.seconds - plan.seconds)} less: this job has {loss(own, plan)}" if plan.seconds < own.seconds else f"{units.seconds(plan.seconds - own.seconds)} more: {loss(plan, own)}"
    return plan.words, units.seconds(plan.seconds), f"{plan.memory.worst.total / 2**30:.1f}", verdict


def assumptions(jobs: Mapping[str, Job]) -> tuple[str, ...]:
    """What predictions rest on, one sentence for each figure, with the key that states another."""
    timed = [job for _, job in sorted(jobs.items()) if job.step]
    if not timed:
        return ()
    out = [
        "The time of a step is a prediction: kernels by their operations, tiles and bytes, messages by bytes and hops, stages by the slowest; on published runs its median error is below 5%, "
        "and one row of ten may be off by a fifth (tests/published).",
        "TFLOP/s, MFU and HFU count attention whole, though half of it is masked, as published figures do; the time of flash attention counts its causal half alone (assume.attention).",
    ]
    for name, (what, source) in MEANING.items():
        out += dict.fromkeys(_figure(job, name, what, source) for job in timed if _rests_on(job, name))
    return tuple(out)


def _rests_on(job: Job, name: str) -> bool:
    """Whether a job has the link that an assumption is about."""
    spec = job.spec
    if name == "nvlink":
        return spec.has_nvlink
    return name not in OF_OFFLOAD or spec.offload_optimizer != "none" or spec.offload_weights != "none" or (name == "pcie_gbytes_per_s" and not spec.has_nvlink)


def _figure(job: Job, name: str, what: str, source: str) -> str:
    stated: Assumptions = job.spec.assume
    own = origin(job.spec.gpu, name)
    gpu = f" ({job.spec.gpu.name})" if own or name in ("matmul", "attention", "unfused") else ""
    whose = f"stated for {job.name}" if name in stated.stated else own or source
    return f"assume.{name} {getattr(stated.of(job.spec.gpu), name):.3g}{gpu}: {what} ({whose})."
