"""What a person wants to see first: counts, power, memory of a GPU, cost of the placement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .. import units

if TYPE_CHECKING:
    from ..design.fabric.model import Fabric
    from ..placement.model import Placement
    from ..placement.project import Project
    from ..training import Job


def summary(project: Project) -> Iterator[str]:
    """Lines of plain text, one fact each."""
    design = project.design
    yield project.name
    for pool in design.pools.values():
        gpus = f", {pool.count * pool.system.gpus:,} GPUs" if pool.system.gpus else ""
        spares = f", {pool.spares} spare" if pool.spares else ""
        down = f", {len(pool.down)} down" if pool.down else ""
        yield _row("nodes", f"{pool.name}: {pool.count:,} x {pool.system.name}{gpus}{spares}{down}")
    for fabric in design.fabrics.values():
        yield _row("fabric", _fabric(fabric))
    for facility in design.facilities.values():
        room = f" of {units.kilowatts(facility.cooling_w)} cooling" if facility.cooling_w else ""
        unknown = f"; not published: {', '.join(facility.unknown)}" if facility.unknown else ""
        yield _row("power", f"{facility.site}: {units.kilowatts(facility.power_w)}{room} in {len(facility.racks):,} racks{unknown}")
    for name, job in project.jobs.items():
        yield _row("job", _job(job))
        yield _row("memory", _memory(job))
        yield _row("placement", _placement(project.placements[name]))


def _row(label: str, text: str) -> str:
    return f"  {label:<10} {text}"


def _fabric(fabric: Fabric) -> str:
    speed = "/".join(str(g) for g in sorted(set(fabric.link_gbps.values())))
    if fabric.switch is None:
        return f"{fabric.name}: {fabric.technology}, {sum(len(g.hosts) for g in fabric.groups):,} hosts; the cloud does not show its switches"
    cables = fabric.cables
    joins = {"manager": cables.manager, "leaf-spine": cables.leaf_spine, "spine-core": cables.spine_core, "leaf-leaf": cables.local, "group-group": cables.across}
    parts = [f"{cables.host:,} host", *(f"{count:,} {name}" for name, count in joins.items() if count)]
    counts = {"leaf": fabric.leaves, "spine": fabric.spines, "core": fabric.cores}
    switches = " + ".join(f"{len(names)} {kind}" for kind, names in counts.items() if names or kind == "spine") + f" {fabric.switch.name}"
    return f"{fabric.name}: {switches}; cables {' + '.join(parts)}; {speed} Gb/s {fabric.technology}"


def _job(job: Job) -> str:
    spec = job.spec
    cut = f"TP{spec.tensor} PP{spec.pipeline} CP{spec.context} DP{job.data_parallel}"
    zero = f", ZeRO-{spec.zero}" if spec.framework == "deepspeed" else ""
    return f"{job.name}: {spec.model.name}, {spec.framework}{zero}, {job.world:,} {spec.gpu.noun}s, {cut}, {job.micro_batches} micro batches"


def _memory(job: Job) -> str:
    table, worst = job.memory, job.memory.worst
    rows = [(line, figures[table.stages.index(worst)]) for line, figures in table.rows() if line != "total"]
    parts = ", ".join(f"{line} {units.gib(row)}" for line, row in rows if row >= 0.05 * units.GIB)
    return f"{units.gib(worst.total)} of {units.gib(table.capacity)} usable on each {job.spec.gpu.noun} of stage {worst.stage} ({parts})"


def _placement(placement: Placement) -> str:
    bound = f"bound {units.seconds(placement.bound_s)}"
    return f"communication cost {units.seconds(placement.cost.total_s)} a step, sorted host names {units.seconds(placement.sorted_cost.total_s)}; {bound}"
