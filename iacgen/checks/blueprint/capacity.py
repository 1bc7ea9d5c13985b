"""A way to buy machines that the machine type does not come with."""

from __future__ import annotations

from collections.abc import Iterator

from ... import catalog
from ...blueprint import Blueprint
from ...diagnostics import Diagnostic


def capacity(blueprint: Blueprint) -> Iterator[Diagnostic]:
    """IAC214 no-capacity-block: the type is not sold in blocks. IAC215 capacity-shared: two pools on one reservation of one type."""
    seen: dict[str, str] = {}
    for name, pool in blueprint.nodes.items():
        offered = catalog.system(pool.system).cloud
        if not pool.capacity or not offered or pool.capacity.kind == "on-demand":
            continue
        if pool.capacity.kind == "capacity-block" and not offered.capacity_block:
            yield Diagnostic("IAC214", "no-capacity-block", "error", f"{pool.system} is not sold in capacity blocks", ("nodes", name, "capacity", "kind"))
        other = seen.setdefault(pool.capacity.id, name)
        if other != name and blueprint.nodes[other].system != pool.system:
            message = f"{pool.capacity.id} holds machines of one type; nodes.{other} takes {blueprint.nodes[other].system} from it"
            yield Diagnostic("IAC215", "capacity-shared", "error", message, ("nodes", name, "capacity", "id"))
