"""A fabric as seen from its hosts: which switches are above each, tier by tier. One form for fabrics that are planned and for those that exist."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .cabling import Cabling

Labels = NDArray[np.int64]
Rates = NDArray[np.float64]


@dataclass(frozen=True)
class Hierarchy:
    """Hosts in the order of the fabric, and for each tier, from the hosts upwards, the switch group that each lies under.

    ``tiers``: a word each, such as leaf, pod, spine. ``groups[k]``: names of the groups of tier k, in the order of the fabric.
    ``labels``: int array (tiers, hosts) of indices into ``groups``; each group lies in one group of the next tier. A group stands for
    all switches that its hosts share: the rail leaves of a unit are one. What joins all hosts is a last tier of one group; without it
    the groups of the last tier are islands. ``uplink_Bps[k][g]``: bytes per second that may leave group g of tier k, one direction;
    infinite where it is not known or nothing limits it. ``node_Bps``: of the adapters of one host, None where the source does not
    tell. ``domains``: the NVLink domain of each host by name, empty where no source tells; None for a host in none. ``gpus``: what the source
    calls the GPU or the machine type of each host, empty where it does not tell; None for a host of which it does not.

    ``pair_Bps[g, h]``: where the last tier stands for no switch but for links from each group of the tier below it straight to each other,
    as in a dragonfly, the bytes per second of those from group g to group h: infinite on the diagonal, and for all where a rate is not told or
    two groups have no link. None where groups meet in switches above. ``cabling``: the single links of such a fabric, None where not told.
    """

    name: str
    hosts: tuple[str, ...]
    tiers: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    labels: Labels
    uplink_Bps: tuple[Rates, ...] = ()
    node_Bps: float | None = None
    domains: tuple[str | None, ...] = field(default=())
    gpus: tuple[str | None, ...] = field(default=())
    pair_Bps: Rates | None = None
    cabling: Cabling | None = None

    def __post_init__(self) -> None:
        if self.labels.shape != (len(self.tiers), len(self.hosts)) or len(self.groups) != len(self.tiers):
            raise ValueError(f"{self.name}: labels of shape {self.labels.shape} for {len(self.tiers)} tiers and {len(self.hosts)} hosts")
        if not self.uplink_Bps:
            object.__setattr__(self, "uplink_Bps", tuple(np.full(len(names), np.inf) for names in self.groups))

    @cached_property
    def index(self) -> dict[str, int]:
        """Host → its place in ``hosts``."""
        return {host: i for i, host in enumerate(self.hosts)}

    @property
    def islands(self) -> int:
        """How many parts nothing joins: 1 where a last tier joins all."""
        return len(self.groups[-1]) if self.groups else len(self.hosts)

    def only(self, hosts: Sequence[str]) -> Hierarchy:
        """These hosts alone, in this order; groups keep their numbers, so that some may be empty. Raises KeyError for an unknown one."""
        at = np.array([self.index[host] for host in hosts], dtype=np.int64)
        domains, gpus = (tuple(words[i] for i in at) if words else () for words in (self.domains, self.gpus))
        return Hierarchy(self.name, tuple(hosts), self.tiers, self.groups, self.labels[:, at], self.uplink_Bps, self.node_Bps, domains, gpus, self.pair_Bps, self.cabling)
