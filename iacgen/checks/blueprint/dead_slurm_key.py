"""A key of slurm.conf that does nothing any more.

Why: slurmctld takes it, some with an error line at every start, and does not act on it. Whoever wrote it expects what no longer happens.

Bad::

    scheduler:
      parameters: {RoutePlugin: [route/topology]}

Good: leave it out; ``RouteTree`` of TopologyParam took its place.

Source: measured on slurmctld 22.05.8 and 24.11.5, one key at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..rule import Found, rule
from ..slurm_keys import DEAD


@rule("IAC503", "dead-slurm-key")
def check(blueprint: Blueprint) -> Iterator[Found]:
    scheduler = blueprint.scheduler
    for key in scheduler.parameters if scheduler else ():
        if key in DEAD:
            yield Found(f"{key} does nothing any more", ("scheduler", "parameters", key), help=f"in its place: {DEAD[key]}", on_key=True)
