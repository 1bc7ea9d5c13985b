"""How many switches: the equal-links rule for two tiers, and for three the wiring that keeps shifts free of congestion."""

from __future__ import annotations

from dataclasses import dataclass


def spines_for(leaves: int, uplinks: int, ports: int) -> int | None:
    """Spines for ``leaves`` leaves of ``uplinks`` uplinks each, on spines of ``ports`` down-ports; None when they cannot do it.

    The smallest divisor s of ``uplinks`` with leaves * (uplinks / s) <= ports, so that every leaf has the same number of
    links to every spine. This reproduces the compute tables of NVIDIA's DGX SuperPOD reference architectures (H100, B200,
    B300); rounding leaves * uplinks / ports up does not: 24 leaves of 32 uplinks on 64 ports need 16 spines, not 12.
    """
    return next((s for s in divisors(uplinks) if leaves * (uplinks // s) <= ports), None)


def divisors(n: int) -> list[int]:
    """The divisors of a positive number, smallest first."""
    return [d for d in range(1, n + 1) if n % d == 0]


def split_ports(radix: int, oversubscription: float) -> tuple[int, int]:
    """(down, up): as many host ports as a switch can have when up >= down / oversubscription and down + up <= radix."""
    down = max(d for d in range(1, radix) if d + up_for(d, oversubscription) <= radix)
    return down, up_for(down, oversubscription)


def up_for(down: int, oversubscription: float) -> int:
    """Uplinks that ``down`` host ports of the same speed need, at least one."""
    return max(1, -int(-down / oversubscription // 1))


@dataclass(frozen=True)
class PodSize:
    """A pod's spines and what joins them to the cores: ``parallel`` links of each leaf-spine pair, ``up`` uplinks of a spine in
    ``core_parallel`` to each of its cores."""

    spines: int
    parallel: int
    up: int
    core_parallel: int
    cores: int


def pod_size(pod_leaves: int, uplinks: int, pods: int, radix: int, oversubscription: float, spines: int | None = None) -> PodSize | None:
    """Three tiers of ``pods`` equal pods; None when ``radix`` ports cannot do it. ``spines`` fixes the number of a pod.

    Spine number a of every pod has its own set of up / m cores and m parallel links to each, m the largest divisor of ``up``
    with m * pods <= radix. With full pods this gives the spines and cores of NVIDIA's published three-tier rows (DGX B200, 32
    units: 256 and 128). Dealing the same number of core links over shared cores congests shift permutations; this does not.
    """
    for s in divisors(uplinks):
        if spines not in (None, s):
            continue
        down = pod_leaves * (uplinks // s)
        up = up_for(down, oversubscription)
        if down + up > radix or pods > radix:
            continue
        m = max(d for d in divisors(up) if d * pods <= radix)
        return PodSize(s, uplinks // s, up, m, s * up // m)
    return None


def pod_limit(radix: int, oversubscription: float) -> int:
    """Leaves that one pod holds at most: a spine has one link to each."""
    return split_ports(radix, oversubscription)[0]
