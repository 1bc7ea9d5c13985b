"""A fabric that was found, as tiers for the cost of a job."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from iacgen.design.fabric.hierarchy import Hierarchy

from .tiers import Tiers, of_hierarchy
from .ways import of_cabling


def islands(found: Hierarchy, nodes: int, down: Collection[str]) -> tuple[Hierarchy, tuple[str, ...]]:
    """(the part that nothing splits and that has most hosts that are up, the hosts of the others). A job cannot run over two parts."""
    if found.islands < 2 or not found.hosts:
        return found, ()
    up = np.array([host not in down for host in found.hosts])
    most = int(np.bincount(found.labels[-1], up).argmax())
    inside = found.labels[-1] == most
    return found.only([h for h, i in zip(found.hosts, inside, strict=True) if i]), tuple(h for h, i in zip(found.hosts, inside, strict=True) if not i)


def tiers_of(found: Hierarchy, node_Bps: float | None, nvlink_Bps: float) -> Tiers:
    """The tiers of one part. The rate of a node's adapters is that of its system where it is known, else what the source tells. Hosts that the
    source gives several types of GPU are told apart, those of which it does not tell as one more type."""
    rated = replace(found, node_Bps=node_Bps or found.node_Bps)
    tiers = of_hierarchy(rated, pair_Bps=found.pair_Bps if found.pair_Bps is not None and np.isfinite(found.pair_Bps).any() else None)
    if found.cabling is not None:
        tiers = replace(tiers, ways=of_cabling(found.cabling, len(found.groups[0])))
    if any(found.domains):
        number: dict[str, int] = {}
        joined = [number.setdefault(name or f"\0{host}", len(number)) for name, host in zip(found.domains, found.hosts, strict=True)]
        tiers = replace(tiers, domain=np.array(joined, dtype=np.int64), nvlink_Bps=nvlink_Bps)
    if len(set(found.gpus)) > 1:
        types = sorted({name or "" for name in found.gpus})
        tiers = replace(tiers, kind=np.array([types.index(name or "") for name in found.gpus], dtype=np.int64))
    return tiers


def uncounted(found: Hierarchy, tiers: Tiers) -> str:
    """What joins two groups straight and is not in ``tiers``, in words that go behind those of a bound; none where all is."""
    if found.pair_Bps is None or tiers.ways is not None or (tiers.pair_Bps is not None and len(tiers.names) == 1):
        return ""
    if tiers.pair_Bps is None:
        return "; its groups are joined straight to each other, and not every two at a rate that is told: these links are not counted"
    return "; the links between two groups are counted as one, and single links within groups not at all"
