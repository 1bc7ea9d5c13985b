"""Blocks for a Slurm that does not know their sizes.

Why: topology/block came with Slurm 23.11, and the sizes in which it hands hosts out with 24.05. An older slurmctld has no such plugin
and ends at its start.

Bad::

    scheduler: {kind: slurm, version: "22.05", controllers: ctl, topology: block}

Good: ``version: "24.11"``, or leave ``topology`` out: NVLink domains are then the leaves of a tree.

Source: Slurm's release notes of 23.11 and 24.05; slurmctld 22.05.8 has no topology_block.so.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..rule import Found, rule
from ..slurm_keys import version_of

SINCE = (24, 5)


@rule("IAC665", "blocks-too-early")
def check(blueprint: Blueprint) -> Iterator[Found]:
    scheduler = blueprint.scheduler
    if scheduler and scheduler.topology == "block" and version_of(scheduler.version) < SINCE:
        related = (Related(("scheduler", "version"), "declared here"),)
        yield Found(f"Slurm {scheduler.version} has no blocks: their sizes came with 24.05", ("scheduler", "topology"), related, help='write version: "24.11", or topology: tree')
