"""A host listed as down twice.

Why: the second entry was meant to be another host, which then stays in service.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 8, down: [gpu0007, gpu0007]}

Good::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 8, down: [gpu0007, gpu0008]}

Source: scontrol keeps duplicates in a host list (gpu[1,1], Slurm 22.05 and 26.05, measured), so the count of nodes is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..rule import Found, rule


@rule("IAC206", "down-host-twice")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, pool in blueprint.nodes.items():
        for i, host in enumerate(pool.down):
            if host in pool.down[:i]:
                yield Found(f"{host} is listed twice", ("nodes", name, "down", i), (Related(("nodes", name, "down", pool.down.index(host)), "the first time"),))
