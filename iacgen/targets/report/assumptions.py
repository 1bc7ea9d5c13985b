"""What the figures rest on without a published source for it: printed, so that nobody takes it for measured."""

from __future__ import annotations

from iacgen import units
from iacgen.design.facility import energy
from iacgen.design.facility.lengths import SLACK_M, TRAY_M
from iacgen.placement.assumptions import sentences
from iacgen.placement.project import Project
from iacgen.training.checkpoints import ASSUMED_MFU, ASSUMED_SAVE_S, BYTES_PER_PARAMETER

from . import running, times


def assumptions(project: Project) -> tuple[str, ...]:
    """One sentence each, only those that this cluster rests on."""
    design = project.design
    out = []
    generic = sorted({pool.system.name for pool in design.pools.values() if pool.system.generic})
    if generic:
        out.append(f"Classes of machine, not products; replace their figures by those of what you buy: {', '.join(generic)}.")
    if design.facilities:
        out += dict.fromkeys(sentence for _, hall in sorted(design.facilities.items()) for sentence in energy.assumptions(hall))
        out.append(f"Cables run up to trays {TRAY_M:g} m above the racks, along the rows and across them, with {SLACK_M:g} m for the way inside a rack at each end (assumed).")
        out.append("Power is the most that servers and switches draw at once (a switch's typical draw where no maximum is published), without losses of distribution and cooling.")
    gpus = {job.spec.gpu.name: job.memory.context_bytes for _, job in sorted(project.jobs.items())}
    out += [f"{units.gib(kept)} of each {name} are kept free for the driver, NCCL and fragmentation." for name, kept in sorted(gpus.items())]
    frameworks = {job.spec.framework for job in project.jobs.values()}
    if frameworks - {"fsdp"}:
        out.append(f"A checkpoint holds {BYTES_PER_PARAMETER['megatron']} bytes for each parameter: bf16 weights, fp32 weights, two Adam moments.")
    if "fsdp" in frameworks:
        out.append(f"A checkpoint of FSDP holds {BYTES_PER_PARAMETER['fsdp']} bytes for each parameter: fp32 weights, two Adam moments.")
    if any(job.step is None for job in project.jobs.values()):
        out.append(f"Save intervals and data rates take a step to reach {ASSUMED_MFU:.0%} of the GPUs' dense bf16 peak (assumed; 38% to 43% published in arXiv:2407.21783).")
    out += times.assumptions(project.jobs)
    out += running.assumptions(project.jobs)
    if any(job.checkpoints and not job.spec.checkpoint_promised for job in project.jobs.values()):
        out.append(f"Where no checkpoint target is stated, a save may take {units.seconds(ASSUMED_SAVE_S)}.")
    if families := {family.family for placement in project.placements.values() for family in placement.cost.families}:
        out += sentences(families, [project.jobs[name] for name in project.placements])
    if any(fabric.switch is None for fabric in design.fabrics.values()):
        out.append("A cloud shows its switches only once the machines run: until then its hosts count as one group.")
    if len(project.placements) > 1:
        out.append("Each job is placed as if it were alone: jobs of one pool may share hosts and then run one after another.")
    return tuple(out)
