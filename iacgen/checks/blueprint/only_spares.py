"""A pool of nothing but spares.

Why: spares are counted within the pool and kept free of jobs. When all hosts are spares, nothing can run and no placement exists.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 2, spares: 2}

Good::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 3, spares: 1}

Source: cluster-toolkit PR#4883 refuses pools that can never have a node.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..rule import Found, rule


@rule("IAC204", "only-spares")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, pool in blueprint.nodes.items():
        if pool.spares >= pool.count:
            yield Found(f"{pool.spares} of {pool.count} hosts are spares, none is left to work", ("nodes", name, "spares"), help=_help(pool.count))


def _help(count: int) -> str:
    return f"set spares: {count - 1} or less, or a larger count" if count > 1 else "leave spares out, or take a larger count"
