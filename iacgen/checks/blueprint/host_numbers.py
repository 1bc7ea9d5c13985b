"""A pool that its host names cannot count, or that is all spares."""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Diagnostic, Related


def host_numbers(blueprint: Blueprint) -> Iterator[Diagnostic]:
    """IAC203 count-above-width, IAC204 only-spares."""
    for name, pool in blueprint.nodes.items():
        if pool.count >= 10**pool.width:
            message = f"{pool.count:,} hosts need {len(str(pool.count))} digits and nodes.{name}.width is {pool.width}"
            related = (Related(("nodes", name, "width"), "changing it renames every host of the pool"),)
            yield Diagnostic("IAC203", "count-above-width", "error", message, ("nodes", name, "count"), related, help=f"set nodes.{name}.width: {len(str(pool.count))}")
        if pool.spares >= pool.count:
            yield Diagnostic("IAC204", "only-spares", "error", f"{pool.spares} of {pool.count} hosts are spares, none is left to work", ("nodes", name, "spares"))
