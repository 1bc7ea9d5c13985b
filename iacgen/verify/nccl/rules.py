"""What the values must be on this fabric and in every dialect, worked out from the design and not from the target."""

from __future__ import annotations

from typing import Any

from iacgen.diagnostics.model import Diagnostic

from .dialects import Values
from .findings import finding

_OF_OTHERS = {"GLOO_SOCKET_IFNAME"}  # read by PyTorch


def agree(name: str, values: Values, expected: Values) -> list[Diagnostic]:
    """A dialect says what nccl.conf says, and beside that only names of other known readers."""
    out = [finding("dialects-disagree", f"{name}: {key} is {values.get(key, 'missing')}, in nccl.conf {value}") for key, value in expected.items() if values.get(key) != value]
    more = sorted(values.keys() - expected.keys() - _OF_OTHERS)
    return out + [finding("dialects-disagree", f"{name}: {key} is not in nccl.conf and no known reader's") for key in more]


def of_design(design: Any, pool: str, name: str, values: Values) -> list[Diagnostic]:
    """The values of a pool's hosts fit the fabric: its adapters and no other, its lossless class, the management interface."""
    fabric = design.fabric_of(pool, "compute")
    technology = fabric.technology if fabric else None
    out: list[str] = []
    if technology in ("infiniband", "roce"):
        out += _adapters(fabric, pool, values.get("NCCL_IB_HCA"))
    elif stray := sorted(key for key in values if key.startswith("NCCL_IB_")):
        out.append(f"{', '.join(stray)} without InfiniBand or RoCE")
    traffic_class = values.get("NCCL_IB_TC", "missing")
    # The upper six bits of the byte; the lower two are congestion marks and may differ.
    if technology == "roce" and not (traffic_class.isdecimal() and int(traffic_class) >> 2 == fabric.qos.dscp):
        out.append(f"NCCL_IB_TC {traffic_class} is not in the lossless class, DSCP {fabric.qos.dscp}")
    if technology == "infiniband" and "NCCL_IB_GID_INDEX" in values:
        out.append("NCCL_IB_GID_INDEX is not read on InfiniBand")
    management = design.fabric_of(pool, "management")
    interfaces = management.nics[pool].interfaces if management else ()
    if interfaces and technology != "ethernet" and values.get("NCCL_SOCKET_IFNAME") != "=" + ",".join(interfaces):
        out.append(f"NCCL_SOCKET_IFNAME is {values.get('NCCL_SOCKET_IFNAME', 'missing')}, the management interface {', '.join(interfaces)}")
    return [finding("nccl-not-of-fabric", f"{name}: {why}", fabric.origin if fabric else ("nodes", pool)) for why in out]


def _adapters(fabric: Any, pool: str, value: str | None) -> list[str]:
    """``=name[:port[:rail]],...``: the compute adapters in the order of the rails."""
    names = fabric.nics[pool].rdma_names
    if not names:
        return []
    fields = [token.split(":") for token in value.removeprefix("=").split(",")] if value else []
    if not value or not value.startswith("=") or tuple(parts[0] for parts in fields) != names:
        return [f"NCCL_IB_HCA is {value or 'missing'}, the adapters of {fabric.name} are {', '.join(names)}"]
    if any(len(parts) > 2 and parts[2] != str(rail) for rail, parts in enumerate(fields)):
        return [f"NCCL_IB_HCA is {value}, with other rails than the order of the adapters"]
    return []
