"""Two networks of one site that share addresses."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from ...blueprint import Blueprint
from ...design.fabric.build import SUBNETS
from ...diagnostics import Diagnostic


def subnets(blueprint: Blueprint) -> Iterator[Diagnostic]:
    """IAC217 overlapping-subnets: also for two fabrics of one purpose that both take the default."""
    seen: list[tuple[str, ipaddress.IPv4Network]] = []
    for name, fabric in blueprint.fabrics.items():
        network = ipaddress.IPv4Network(fabric.subnet or SUBNETS[fabric.purpose])
        for other, theirs in seen:
            if network.overlaps(theirs):
                path = ("fabrics", name, "subnet") if fabric.subnet else ("fabrics", name)
                message = f"{network} overlaps with {theirs} of fabric {other}"
                yield Diagnostic("IAC217", "overlapping-subnets", "error", message, path, help=f"set fabrics.{name}.subnet", on_key=not fabric.subnet)
        seen.append((name, network))
