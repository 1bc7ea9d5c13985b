"""How many switches: the equal-links rule."""

from __future__ import annotations

from .model import Uplinks


def equal_links(leaves: int, uplinks: int, radix: int, gbps: int) -> Uplinks | None:
    """Spines for ``leaves`` leaves of ``uplinks`` uplinks each, on spines of ``radix`` ports; None when two tiers cannot do it.

    The smallest divisor s of ``uplinks`` with leaves * (uplinks / s) <= radix, so that every leaf has the same number of
    links to every spine. This reproduces the compute tables of NVIDIA's DGX SuperPOD reference architectures (H100, B200,
    B300); rounding leaves * uplinks / radix up does not: 24 leaves of 32 uplinks on 64 ports need 16 spines, not 12.
    """
    for spines in range(1, uplinks + 1):
        if uplinks % spines == 0 and leaves * (uplinks // spines) <= radix:
            return Uplinks(spines, uplinks // spines, gbps)
    return None


def split_ports(radix: int, oversubscription: float) -> tuple[int, int]:
    """(down, up): as many host ports as a leaf can have when up >= down / oversubscription and down + up <= radix."""
    down = max(d for d in range(1, radix) if d + up_for(d, oversubscription) <= radix)
    return down, up_for(down, oversubscription)


def up_for(down: int, oversubscription: float) -> int:
    """Uplinks that ``down`` host ports of the same speed need, at least one."""
    return max(1, -int(-down / oversubscription // 1))
