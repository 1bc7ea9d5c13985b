"""What a fabric that can be built must not be all the same; the checks IAC561, 567, 569, 578 and 620 ask here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...catalog import Switch
from .model import Fabric


def rails_apart(fabric: Fabric) -> bool:
    """Whether no switch joins the rails of a host."""
    rails = max((nic.count for nic in fabric.nics.values()), default=1)
    own_spines = getattr(fabric.trunks, "apart", 1) > 1 and not fabric.cores
    return rails > 1 and (fabric.topology == "rail-only" or own_spines)


def parts(fabric: Fabric) -> int:
    """Parts that nothing joins, each of which an InfiniBand manager of its own runs: planes, and in them rails."""
    rails = max((nic.count for nic in fabric.nics.values()), default=1)
    return fabric.planes * (rails if rails_apart(fabric) else 1)


def unmanaged(fabric: Fabric) -> int:
    """Subnets of an InfiniBand fabric that its manager's hosts do not reach."""
    if fabric.technology != "infiniband":
        return 0
    return parts(fabric) - (fabric.manager.subnets if fabric.manager else 1)


def cyclic_without_lanes(fabric: Fabric) -> bool:
    """Whether minimal routes close cycles that no virtual lanes break."""
    return fabric.technology != "infiniband" and fabric.topology.startswith("dragonfly") and len(fabric.pods) > 1


def within_nvlink(system: Any) -> bool:
    """Whether a GPU of this machine reaches every other one of it without the network."""
    return bool(system.nvlink_domain_gpus >= max(2, system.gpus))


def runs(switch: Switch, os: str | None, gbps: int) -> bool:
    """Whether the files for ``os`` fit the switch with links of this speed; None: it gets no files."""
    if os is None:
        return True
    return os in switch.software and (os != "sonic" or (switch.sonic is not None and gbps in switch.sonic.hwsku))


def sound(fabric: Fabric, pools: Mapping[str, Any]) -> bool:
    """Whether none of the checks on what a topology can mean refuses it."""
    fastest = max(fabric.link_gbps.values())
    if unmanaged(fabric) > 0 or (fabric.purpose == "storage" and fabric.technology == "infiniband" and parts(fabric) > 1):
        return False
    if rails_apart(fabric) and not all(within_nvlink(pools[p].system) for p in fabric.pools):
        return False
    return not cyclic_without_lanes(fabric) and all(runs(tier.switch, fabric.os, fastest) for tier in fabric.tiers)
