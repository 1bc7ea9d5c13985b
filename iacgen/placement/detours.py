"""How many times longer messages take on a placement than at the rate that the time of a step assumes of a node."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from iacgen.training.traffic import Traffic

from .model import Cost, Family

NAMES: Mapping[Family, str] = {"dp": "data", "cp": "context", "pp": "pipeline", "ep": "expert", "fs": "data"}
"""The families in the words of the training room, where what goes on inside shard groups and between them is data parallelism alike."""


def detours(cost: Cost, traffic: Traffic, node_Bps: float, other: Mapping[str, float] = MappingProxyType({})) -> dict[str, float]:
    """Family → its slowest flow or busiest uplinks over what its bytes take at ``node_Bps``, or at the rate in ``other``; families that stay in
    their nodes are left out. Below 1 where all of a family shares a leaf group, at whose switches nothing collides. Of two families of one name
    the longer ratio."""
    volumes = {family: traffic.shard if family == "fs" else getattr(traffic, name) for family, name in NAMES.items()}
    out: dict[str, float] = {}
    for f in cost.families:
        if volumes[f.family]:
            name = NAMES[f.family]
            out[name] = max(out.get(name, 0.0), max(f.slowest_s, f.congestion_s) * other.get(name, node_Bps) / volumes[f.family])
    return out
