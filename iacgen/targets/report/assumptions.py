"""What the figures rest on without a published source for it: printed, so that nobody takes it for measured."""

from __future__ import annotations

from iacgen.placement.assumptions import sentences
from iacgen.placement.project import Project
from iacgen.training.checkpoints import BYTES_PER_PARAMETER
from iacgen.units import gib


def assumptions(project: Project) -> tuple[str, ...]:
    """One sentence each, only those that this cluster rests on."""
    design = project.design
    out = []
    generic = sorted({pool.system.name for pool in design.pools.values() if pool.system.generic})
    if generic:
        out.append(f"Classes of machine, not products; replace their figures by those of what you buy: {', '.join(generic)}.")
    if design.facilities:
        out.append("Power is the most that servers and switches draw at once (a switch's typical draw where no maximum is published), without losses of distribution and cooling.")
    gpus = {job.spec.gpu.name: job.memory.context_bytes for _, job in sorted(project.jobs.items())}
    out += [f"{gib(kept)} of each {name} are kept free for the driver, NCCL and fragmentation." for name, kept in sorted(gpus.items())]
    if project.jobs:
        out.append(f"A checkpoint holds {BYTES_PER_PARAMETER} bytes for each parameter: bf16 weights, fp32 weights, two Adam moments.")
    if any(placement.cost.families for placement in project.placements.values()):
        out += sentences()
    if any(fabric.switch is None for fabric in design.fabrics.values()):
        out.append("A cloud shows its switches only once the machines run: until then its hosts count as one group.")
    if len(project.placements) > 1:
        out.append("Each job is placed as if it were alone: jobs of one pool may share hosts and then run one after another.")
    return tuple(out)
