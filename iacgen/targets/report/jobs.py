"""One job on the page: its shape, memory by stage, checkpoint, and where its ranks sit."""

from __future__ import annotations

from dataclasses import dataclass

from iacgen import units
from iacgen.design.fabric.model import Fabric
from iacgen.design.model import Design, Pool
from iacgen.placement import Cost, Placement
from iacgen.placement.detours import detours
from iacgen.render import fold
from iacgen.training import Job
from iacgen.training.links import links, node_rates
from iacgen.training.memory import LINES
from iacgen.training.plan import stepped
from iacgen.training.text import MEANING, telling_stages

from . import running, times
from .cluster import Fact, Row, Table

FAMILIES = {"dp": "data parallel", "cp": "context parallel", "pp": "pipeline", "ep": "expert parallel", "fs": "shards of the states"}


@dataclass(frozen=True)
class Section:
    """The words of one job. ``step`` and ``ways`` are None where nobody knows the time of a step, ``traffic`` when nothing leaves a node.
    ``idle``: why, how many, the hosts folded."""

    name: str
    facts: tuple[Fact, ...]
    step: Table | None
    ways: Table | None
    memory: Table
    verdict: str
    orders: Table
    traffic: Table | None
    idle: tuple[tuple[str, int, str], ...]
    digest: str


def section(job: Job, placement: Placement, design: Design) -> Section:
    """All that the page says of a job."""
    pool = design.pool_of(placement.hosts[0])
    return Section(job.name, _facts(job, pool, design), times.parts(job), times.ways(job), _memory(job), _verdict(placement), _orders(job, placement), _traffic(placement.cost), _idle(placement), placement.digest)


def _facts(job: Job, pool: Pool, design: Design) -> tuple[Fact, ...]:
    spec = job.spec
    fp8 = "; linear layers in fp8" if spec.fp8 else ""
    zero = f", ZeRO stage {spec.zero}" if spec.framework == "deepspeed" else ""
    chunks = f", {spec.virtual} model chunks a stage" if spec.virtual > 1 else ""
    purpose = design.descriptions.get(("training", job.name))
    return (
        *([("For", purpose)] if purpose else []),
        ("Model", f"{spec.model.name}, {job.parameters.total:,} parameters"),
        ("Framework", f"{spec.framework}{zero}{fp8}; gradients {spec.gradients}; recompute {spec.recompute}"),
        (f"{spec.gpu.noun}s", f"{job.world:,} = tensor {spec.tensor} x context {spec.context} x data {job.data_parallel} (derived) x pipeline {spec.pipeline}{chunks}"),
        ("Batch", f"{spec.global_batch:,} sequences of {spec.sequence:,} tokens = {spec.micro_batch} x {job.micro_batches} micro batches x data {job.data_parallel}"),
        *times.facts(job, pool, design),
        *running.facts(job, pool, design),
    )


def _memory(job: Job) -> Table:
    stages = telling_stages(job.memory)
    shown = [line for line in LINES if any(getattr(stage, line) for stage in stages)]
    rows: list[Row] = [(MEANING[line].capitalize(), *(_gib(getattr(stage, line)) for stage in stages)) for line in shown]
    rows.append(("Sum", *(_gib(stage.total) for stage in stages)))
    rows.append((f"Room on {job.spec.gpu.name}", *(_gib(job.memory.capacity) for _ in stages)))
    return Table((f"GiB on each {job.spec.gpu.noun}", *(f"Stage {stage.stage} of {len(job.memory.stages)}" for stage in stages)), tuple(rows), right=len(stages))


def _gib(count: int) -> str:
    return f"{count / 2**30:.1f}"


def _verdict(placement: Placement) -> str:
    """Where the chosen order stands against sorted host names and against the bound."""
    first = "This order is that of the sorted host names" if placement.by_name else "This order costs as much as sorted host names do"
    if placement.cost_s < placement.sorted_cost_s:
        first = f"This order costs {1 - placement.cost_s / placement.sorted_cost_s:.0%} less than sorted host names do"
    if not placement.cost.families:
        return "Nothing of this job leaves a host: any order will do."
    if placement.proved:
        return f"{first}; no placement costs less, whichever hosts it takes ({_by(placement)})."
    return f"{first}, and at most {placement.ratio - 1:.1%} more than the cheapest there can be: {_by(placement)} sets the bound."


def _by(placement: Placement) -> str:
    """What no placement can get around."""
    bound = placement.bound
    return f"{bound.why}, at {bound.switch}" if bound.switch else bound.why


def _orders(job: Job, placement: Placement) -> Table:
    """The chosen order beside sorted names: the cost that it was chosen by, and what of the step hangs on it."""
    chosen, by_name = placement.cost, placement.sorted_cost
    rows: list[Row] = [("Communication cost, a step", units.seconds(chosen.total_s), units.seconds(by_name.total_s), units.seconds(placement.bound_s))]
    if job.step and chosen.families:
        named = stepped(job, detours(by_name, job.traffic, links(job.spec).network, node_rates(job.spec))).step
        assert named
        rows.append(("Exposed communication between nodes, in the step time", units.seconds(job.step.exposed_between_nodes), units.seconds(named.exposed_between_nodes), ""))
    rows += [
        (f"Bytes that leave a {tier} group, a step", units.bytes_si(ours), units.bytes_si(theirs), "")
        for tier, ours, theirs in zip(chosen.tiers, chosen.bytes_by_tier, by_name.bytes_by_tier, strict=True)
    ]
    rows.append(("Times that one ring enters one leaf group, at most", chosen.ring_entries, by_name.ring_entries, ""))
    return Table(("", "This order", "Sorted host names", "Lower bound"), tuple(rows), right=3)


def _traffic(cost: Cost) -> Table | None:
    """One row a kind of traffic: what it costs, and the flow or the uplinks that set it."""
    if not cost.families:
        return None
    rows = []
    for f in cost.families:
        crossed = "over the links of the accelerators" if f.inside else f"crosses {f.slowest_tier} groups" if f.slowest_tier else "inside a leaf group"
        uplinks = f"{units.seconds(f.congestion_s)}, {f.busiest}" if f.busiest else "not used"
        rows.append((FAMILIES[f.family], f"{units.seconds(f.seconds)} = {f.exposed:g} x {units.seconds(f.seconds / f.exposed)}", f"{units.seconds(f.slowest_s)}, {crossed}", uplinks))
    return Table(("Traffic", "Cost = weight x time", "Slowest flow", "Busiest uplinks"), tuple(rows))


def _idle(placement: Placement) -> tuple[tuple[str, int, str], ...]:
    reasons = ("down", "spare", "left over", "not needed", "place unknown", "apart")
    hosts = {why: [idle.host for idle in placement.idle if idle.why == why] for why in reasons}
    return tuple((why, len(names), fold(names)) for why, names in hosts.items() if names)
