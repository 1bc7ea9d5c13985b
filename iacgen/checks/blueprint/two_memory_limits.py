"""A default or a limit of memory in two ways.

Why: Slurm counts memory by node or by core, not by both. It keeps the value for the node, says "mutually exclusive" in every log, and
every command that reads the file says so too. Which of the two was meant, nobody can see.

Bad::

    scheduler: {kind: slurm, version: "24.11", controllers: ctl, parameters: {DefMemPerNode: ["200000"], DefMemPerCPU: ["2000"]}}

Good: one of the two.

Source: slurm.conf(5), DefMemPerCPU and MaxMemPerCPU; slurmctld 22.05.8 and 24.11.5: "DefMemPerCPU ignored, since it's mutually
exclusive with DefMemPerNode" (measured).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..rule import Found, rule


@rule("IAC558", "two-memory-limits")
def check(blueprint: Blueprint) -> Iterator[Found]:
    parameters = blueprint.scheduler.parameters if blueprint.scheduler else {}
    for ignored, kept in (("DefMemPerCPU", "DefMemPerNode"), ("MaxMemPerCPU", "MaxMemPerNode")):
        if ignored in parameters and kept in parameters:
            yield Found(f"{ignored} is ignored beside {kept}", ("scheduler", "parameters", ignored), (Related(("scheduler", "parameters", kept), "which is kept"),), on_key=True)
