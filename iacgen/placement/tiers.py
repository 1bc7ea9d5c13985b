"""The fabric as label arrays: for each tier the switch group of every host, what leaves a group, and what one node reaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from iacgen.design.fabric.dragonfly import Dragonfly
from iacgen.design.fabric.hierarchy import Hierarchy
from iacgen.design.fabric.model import Fabric
from iacgen.design.fabric.planned import of_fabric as planned

from .assumptions import NIC_SHARE_BY_TIER
from .ways import Ways
from .ways import of_fabric as ways_of

Labels = NDArray[np.int64]
Rates = NDArray[np.float64]


@dataclass(frozen=True)
class Tiers:
    """Switch tiers from the node upwards; each group of a tier lies in one group of the next.

    ``names``: one a tier, such as leaf, pod. ``groups[k]``: names of the groups of tier k. ``labels[k, h]``: group of host h.
    ``uplink_Bps[k][g]``: bytes per second that may leave group g, one direction; infinite where nothing limits it.
    ``flow_Bps[k]``: rate of one node's flow whose ends first meet in tier k (0: same leaf group), one more than tiers.
    The rail leaves of a unit are one group: every local rank uses its own rail, so the rails carry equal copies.
    ``domain[h]``: the NVLink domain of host h, where one joins several hosts (None: each host is its own). What stays in one
    crosses no switch and runs at ``nvlink_Bps`` a host; domains need not lie in one leaf group.
    ``pair_Bps[g, h]``: bytes per second over the links from group g of the top tier straight to group h, where every two are joined so
    (a dragonfly); None where they meet in switches above. ``kind[h]``: the GPU type of a host as a number; None where all are alike.
    ``ways``: the single links of a planned dragonfly, whose leaves are the groups of the first tier; None where they are not known.
    """

    names: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    labels: Labels
    uplink_Bps: tuple[Rates, ...]
    flow_Bps: Rates
    domain: NDArray[np.int64] | None = None
    nvlink_Bps: float = np.inf
    pair_Bps: Rates | None = None
    kind: NDArray[np.int64] | None = None
    ways: Ways | None = None

    @property
    def hosts(self) -> int:
        return self.labels.shape[1]

    def only(self, hosts: NDArray[np.int64]) -> Tiers:
        """These hosts alone, in this order; groups keep their numbers."""
        domain = None if self.domain is None else self.domain[hosts]
        return replace(self, labels=self.labels[:, hosts], domain=domain, kind=None if self.kind is None else self.kind[hosts])

    @property
    def joined(self) -> NDArray[np.int64]:
        """The NVLink domain of every host."""
        return np.arange(self.hosts) if self.domain is None else self.domain


def of_hierarchy(hierarchy: Hierarchy, node_Bps: float | None = None, pair_Bps: Rates | None = None) -> Tiers:
    """The switch tiers above these hosts, for nodes whose adapters send ``node_Bps`` where the hierarchy does not tell. A last tier of one
    group, which nothing leaves, is left out; above the third the rate of a flow falls no further."""
    rate = hierarchy.node_Bps or node_Bps
    if not rate:
        raise ValueError(f"{hierarchy.name}: the rate of a node's adapters is not known")
    count = len(hierarchy.tiers) - (len(hierarchy.groups[-1]) == 1 and len(hierarchy.tiers) > 1)
    shares = [NIC_SHARE_BY_TIER[min(k, len(NIC_SHARE_BY_TIER) - 1)] for k in range(count + 1)]
    return Tiers(hierarchy.tiers[:count], hierarchy.groups[:count], hierarchy.labels[:count], hierarchy.uplink_Bps[:count], rate * np.array(shares), pair_Bps=pair_Bps)


def of_fabric(fabric: Fabric, pool: str, hosts: Sequence[str]) -> Tiers:
    """The tiers of a designed fabric for these hosts of one pool. Raises KeyError for a host that is not on it."""
    tiers = of_hierarchy(planned(fabric, hosts), fabric.nics[pool].count * fabric.link_gbps[pool] * 1e9 / 8, _pairs(fabric))
    return replace(tiers, ways=ways_of(fabric))


def _pairs(fabric: Fabric) -> Rates | None:
    """Bytes per second between each two groups of a dragonfly, which are joined by equally many links; of one that is a single group of
    routers, between each two of these, which one link joins."""
    trunks, many = fabric.trunks, len(fabric.pods)
    if not isinstance(trunks, Dragonfly):
        return None
    if many > 1:
        return np.where(np.eye(many, dtype=bool), np.inf, fabric.pod_Bps() / (many - 1))
    return None if trunks.spines else np.where(np.eye(trunks.leaves, dtype=bool), np.inf, fabric.planes * trunks.gbps * 1e9 / 8)


def alone(hosts: int) -> Tiers:
    """Hosts that nothing connects: enough for a job on one of them."""
    return Tiers(("leaf",), (("none",),), np.zeros((1, hosts), dtype=np.int64), (np.array([np.inf]),), np.array([np.inf, np.inf]))
