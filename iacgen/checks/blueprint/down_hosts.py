"""A host marked as down that the pool does not have."""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Diagnostic


def down_hosts(blueprint: Blueprint) -> Iterator[Diagnostic]:
    """IAC205 unknown-down-host, IAC206 down-host-twice."""
    for name, pool in blueprint.nodes.items():
        for i, host in enumerate(pool.down):
            digits = host.removeprefix(name)
            known = host.startswith(name) and digits.isdecimal() and len(digits) == pool.width and 1 <= int(digits) <= pool.count
            if not known:
                message = f"pool {name} has no host {host!r}; its hosts are {name}{1:0{pool.width}d} to {name}{pool.count:0{pool.width}d}"
                yield Diagnostic("IAC205", "unknown-down-host", "error", message, ("nodes", name, "down", i))
            elif host in pool.down[:i]:
                yield Diagnostic("IAC206", "down-host-twice", "error", f"{host} is listed twice", ("nodes", name, "down", i))
