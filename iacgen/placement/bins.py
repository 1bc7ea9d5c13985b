"""Hosts that no cost tells apart, and switch groups that may change places: what an exact search need not try twice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .tiers import Labels, Tiers

Sets = tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]


@dataclass(frozen=True)
class Bins:
    """The hosts in bins: those of one bin are of one group in every tier, one NVLink domain and one GPU type; it does not matter which is taken.

    ``hosts[b]``: indices of the hosts of bin b, rising. ``labels[k, b]``: its group in tier k. ``domain[b]``: its NVLink domain; -1 where
    each of its hosts is its own. ``kind[b]``: its GPU type, 0 where all are alike. ``twins``: pairs (later, earlier) of sets of bins that are the same but for their names, two leaf groups of
    as many hosts in one pod for example, or two such pods: an assignment with any of them exchanged, bin by bin in their order, costs the
    same, so that only those need be looked at in which the earlier set is used first, or only those in which it holds no fewer nodes.
    """

    hosts: tuple[NDArray[np.int64], ...]
    labels: Labels
    domain: NDArray[np.int64]
    kind: NDArray[np.int64]
    twins: Sets

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Hosts of each bin."""
        return np.array([len(hosts) for hosts in self.hosts], dtype=np.int64)

    def order(self, assigned: NDArray[np.integer]) -> NDArray[np.int64]:
        """Host of each virtual node, given its bin: of each bin the first hosts, in the order of the nodes."""
        order = np.empty(len(assigned), dtype=np.int64)
        for b, hosts in enumerate(self.hosts):
            nodes = np.flatnonzero(assigned == b)
            order[nodes] = hosts[: len(nodes)]
        return order

    def assigned(self, order: NDArray[np.int64]) -> NDArray[np.int64]:
        """Bin of each virtual node, given its host."""
        bin_of = np.empty(sum(map(len, self.hosts)), dtype=np.int64)
        for b, hosts in enumerate(self.hosts):
            bin_of[hosts] = b
        return bin_of[order]

    def settled(self, assigned: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bin of each virtual node after twins are exchanged until no later one holds more nodes than the earlier."""
        holds, moved = np.bincount(assigned, minlength=len(self.hosts)), True
        now = np.arange(len(self.hosts))  # where the nodes of a bin are now
        while moved:
            moved = False
            for later, earlier in map(np.array, self.twins):
                if holds[later].sum() > holds[earlier].sum():
                    holds[later], holds[earlier] = holds[earlier], holds[later]
                    came_from = np.argsort(now)
                    now[came_from[later]], now[came_from[earlier]] = earlier, later
                    moved = True
        return now[assigned]


def bins(tiers: Tiers) -> Bins:
    """The bins of a fabric, in the order of its groups."""
    _, at, sharing = np.unique(tiers.joined, return_inverse=True, return_counts=True)
    domain = np.where(sharing[at] > 1, tiers.joined, -1)
    kind = np.zeros(tiers.hosts, dtype=np.int64) if tiers.kind is None else tiers.kind
    keys, of = np.unique(np.vstack([tiers.labels[::-1], domain, kind]), axis=1, return_inverse=True)
    hosts = np.split(np.argsort(of.ravel(), kind="stable"), np.cumsum(np.bincount(of.ravel()))[:-1])
    labels, domain, kind = keys[-3::-1], keys[-2], keys[-1]
    across = {int(d) for d in domain if d >= 0 and (domain == d).sum() > 1}  # a domain on several leaf groups is like no other
    looks = [(len(h), int(t), d >= 0, d if d in across else -1) for h, t, d in zip(hosts, kind, domain.tolist(), strict=True)]
    return Bins(tuple(hosts), labels, domain, kind, _twins(tiers, looks, labels))


def _twins(tiers: Tiers, looks: list[tuple[object, ...]], labels: Labels) -> Sets:
    """Equal siblings, from the bins, given what each looks like, up to the top tier: groups are equal when their uplinks are and what lies in
    them is."""
    numbers: dict[tuple[object, ...], int] = {}
    form = [numbers.setdefault(look, len(numbers)) for look in looks]
    if tiers.ways is not None:  # each leaf has links of its own
        return ()
    members = [(b,) for b in range(len(looks))]
    parents = [*labels, np.zeros(len(looks), dtype=np.int64)]
    twins = []
    for k, parent in enumerate(parents):
        last: dict[tuple[int, int], tuple[int, ...]] = {}
        inside: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
        for shape, own in zip(form, members, strict=True):
            above = int(parent[own[0]])
            if (above, shape) in last:
                twins.append((own, last[above, shape]))
            last[above, shape] = own
            inside.setdefault(above, []).append((shape, own))
        if k < len(labels):
            members = [tuple(b for _, own in sorted(parts) for b in own) for parts in inside.values()]
            own_links = k == len(labels) - 1 and not _joined_alike(tiers)
            form = [numbers.setdefault((k, float(tiers.uplink_Bps[k][g]), g if own_links else -1, *sorted(shape for shape, _ in parts)), len(numbers)) for g, parts in inside.items()]
    return tuple(twins)


def _joined_alike(tiers: Tiers) -> bool:
    """Whether the links between each two groups of the top tier, where there are any, are of one rate."""
    return tiers.pair_Bps is None or np.unique(tiers.pair_Bps[~np.eye(len(tiers.pair_Bps), dtype=bool)]).size < 2
