"""A host listed as down that the pool does not have.

Why: a misspelt name would leave the broken host in the rank file, and the job would start on it.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 8, down: [gpu7]}

Good::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 8, down: [gpu0007]}

Source: slurmctld accepts an unknown node in several files with a warning at most (Slurm 22.05 to 26.05, measured).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...blueprint import Blueprint
from ...blueprint.nodes import NodePool
from ...diagnostics.nearest import closest
from ...diagnostics import Related
from ..rule import Found, rule


@rule("IAC205", "unknown-down-host")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, pool in blueprint.nodes.items():
        for i, host in enumerate(pool.down):
            digits = host.removeprefix(name)
            known = host.startswith(name) and digits.isdecimal() and len(digits) == pool.width and 1 <= int(digits) <= pool.count
            if not known:
                message = f"pool {name} has no host {host!r}; its hosts are {name}{1:0{pool.width}d} to {name}{pool.count:0{pool.width}d}"
                yield Found(message, ("nodes", name, "down", i), (Related(("nodes", name, "count"), "so many it has"),), help=_help(name, pool, host))


def _help(name: str, pool: NodePool, host: str) -> str | None:
    """The host of this number, where the pool has one and the letters before it are near the pool's name."""
    prefix, number = re.fullmatch(r"(.*?)([0-9]{0,9})", host).groups()  # type: ignore[union-attr]
    if not number or int(number) not in range(1, pool.count + 1) or not closest(prefix, [name]):
        return None
    return f"did you mean {f'{name}{int(number):0{pool.width}d}'!r}?"
