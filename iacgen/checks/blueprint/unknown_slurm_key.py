"""A key of slurm.conf that the version does not have.

Why: slurmctld ends at the first key that it does not know, and with it the whole cluster.

Bad::

    scheduler:
      version: "24.11"
      parameters: {TreeWidht: ["16"]}

Good: ``TreeWidth``.

Source: slurm.conf(5) of 22.05.8 and 24.11.5; both controllers end with "Parsing error at unrecognized key".
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..nearest import close
from ..rule import Found, rule
from ..slurm_keys import DEAD, LISTS, PLANNED, SINGLE, version_of


@rule("IAC501", "unknown-slurm-key")
def check(blueprint: Blueprint) -> Iterator[Found]:
    scheduler = blueprint.scheduler
    for key in scheduler.parameters if scheduler else ():
        path = ("scheduler", "parameters", key)
        if key in SINGLE and SINGLE[key] > version_of(scheduler.version):
            yield Found(f"Slurm {scheduler.version} has no {key}", path, (Related(("scheduler", "version"), "declared here"),), help="that of 24.11 has it", on_key=True)
        elif key not in SINGLE.keys() | LISTS.keys() | DEAD.keys() | PLANNED:
            yield Found(f"no key {key} that a blueprint may set is known", path, help=close(key, (*SINGLE, *LISTS)), on_key=True)
