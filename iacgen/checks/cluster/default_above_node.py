"""A default of Slurm that no node of the queue can give.

Why: a job that says nothing of memory or cores gets the default, for each GPU or for each core. Where that is more than a node has, the
job is refused with "Requested node configuration is not available", and whoever wrote it asked for nothing unusual. slurmctld takes
the value without a word.

Bad::

    scheduler: {kind: slurm, version: "24.11", controllers: ctl, parameters: {DefMemPerGPU: ["900000"]}}

Good: leave it out, or at most the node's memory in MiB over its GPUs, as ``DefMemPerGPU: ["230000"]``.

Source: aws-parallelcluster's bounds of schedulable memory; slurm.conf(5), DefMemPerGPU; accepted by slurmctld 22.05.8 and 24.11.5
(measured).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...catalog import System
from ...diagnostics import Related
from ..duties import queued
from ..rule import Found, rule
from ..subject import Subject

# Key → of a node: what it multiplies, what that is measured against, and the unit.
_DEFAULTS: dict[str, Callable[[System], tuple[int, int, str]]] = {
    "DefMemPerNode": lambda system: (1, system.memory_mib, "MiB"),
    "DefMemPerCPU": lambda system: (system.cpus, system.memory_mib, "MiB"),
    "DefMemPerGPU": lambda system: (system.gpus, system.memory_mib, "MiB"),
    "DefCpuPerGPU": lambda system: (system.gpus, system.cpus, "CPUs"),
}


@rule("IAC551", "default-above-node")
def check(subject: Subject) -> Iterator[Found]:
    scheduler = subject.blueprint.scheduler
    for key, of in _DEFAULTS.items():
        value = scheduler.parameters.get(key, ("",))[0] if scheduler else ""
        for name in sorted(queued(subject.blueprint)) if value.isdecimal() else ():
            times, has, unit = of(subject.design.pools[name].system)
            if int(value) * times > has:
                yield Found(f"{int(value) * times:,} {unit} for a node of {name}, which has {has:,}", ("scheduler", "parameters", key, 0), (Related(("nodes", name, "system"), "the smallest that has too little"),))
                break
