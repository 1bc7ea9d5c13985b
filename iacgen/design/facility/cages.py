"""Which cage each end of a link leaves from.

A switch counts its ports at the speed of its fastest links, those of cages set apart for uplinks left out: a slower link takes a whole
port of that count, and a cage has as many ports as at that speed. The ports of a host lie in the cages of its adapters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import catalog
from ...catalog import HostNic
from ...catalog.nics import Form
from ..fabric.model import Fabric, Links, pool_of

Numbers = NDArray[np.int64]
FROM_HOSTS = ("host-leaf", "manager-leaf")


@dataclass(frozen=True)
class Socket:
    """A kind of cage: its form (None: nobody knows it), how many links leave from one, whether it is a host's."""

    form: Form | None
    links: int
    host: bool = False

    def __str__(self) -> str:
        cage = f"{self.form.upper()} cage" if self.form else "cage of unknown form"
        return f"a {'host' if self.host else 'switch'}'s {cage}{f' of {self.links} links' if self.links > 1 else ''}"


class Ends(NamedTuple):
    """One side of an array of links: the ``cage`` of each, numbered over the whole fabric from 0; which link of that cage it is,
    ``part``, from 0 (always 0 at a host); and the number of the cage's kind within ``Cages.sockets``."""

    cage: Numbers
    part: Numbers
    kind: Numbers


class _Switches(NamedTuple):
    """A column a switch: the number of its first cage, links that share a cage, cages that are not for uplinks, the speed of uplinks
    with cages of their own (0: none), kind of its cages and of those."""

    first: Numbers
    share: Numbers
    others: Numbers
    uplink_gbps: Numbers
    kind: Numbers
    uplink_kind: Numbers

    def ends(self, gbps: int, device: Numbers, port: Numbers) -> Ends:
        """As ``catalog.Switch.cage`` has it, for arrays."""
        apart, whole = self.uplink_gbps[device] == gbps, self.uplink_gbps[device] > 0
        share, others = self.share[device], self.others[device]
        index = np.where(whole, port - 1 + np.where(apart & (port <= others), others, 0), (port - 1) // share)
        return Ends(self.first[device] + index, np.where(whole, 0, (port - 1) % share), np.where(apart, self.uplink_kind[device], self.kind[device]))


class _Hosts(NamedTuple):
    """A column a host: the number of its first cage, which of ``nics`` are its adapters. A row an adapter: its ports, its kind of cage,
    the cage of each port."""

    first: Numbers
    nic: Numbers
    ports: Numbers
    kind: Numbers
    cage: Numbers

    def ends(self, device: Numbers, port: Numbers) -> Ends:
        """The links of one port to several planes leave from its cage."""
        nic = self.nic[device]
        return Ends(self.first[device] + self.cage[nic, port % self.ports[nic]], np.zeros_like(nic), self.kind[nic])


@dataclass(frozen=True)
class Cages:
    """The cages of a fabric: those of its switches, of its hosts, of its manager's hosts. ``names`` are these devices and ``starts``
    the number of the first cage of each; ``count`` is how many cages there are."""

    sockets: tuple[Socket, ...]
    names: tuple[str, ...]
    starts: Numbers
    count: int
    switches: _Switches
    hosts: _Hosts
    managers: _Hosts

    def ends(self, links: Links) -> tuple[Ends, Ends]:
        """Of the lower and of the upper end of each link."""
        upper = self.switches.ends(links.gbps, links.b, links.b_port)
        if links.joins in FROM_HOSTS:
            return (self.hosts if links.joins == "host-leaf" else self.managers).ends(links.a, links.a_port), upper
        return self.switches.ends(links.gbps, links.a, links.a_port), upper

    def place(self, cage: int) -> tuple[str, int]:
        """The device of a cage, and its number there from 1."""
        device = int(np.searchsorted(self.starts, cage, "right")) - 1
        return self.names[device], cage - int(self.starts[device]) + 1


def counted_gbps(fabric: Fabric) -> list[int]:
    """For each switch of ``Fabric.switch_names`` the speed at which its ports are counted. A switch without any link has the fastest of
    its model."""
    fastest = np.zeros(fabric.switches, dtype=np.int64)
    models = [tier.switch for tier in fabric.tiers for _ in tier.names]
    apart = np.array([model.uplink_gbps or 0 for model in models], dtype=np.int64)
    for found in fabric.each():
        for near in (found.b,) if found.joins in FROM_HOSTS else (found.a, found.b):
            np.maximum.at(fastest, near, np.where(apart[near] == found.gbps, 0, found.gbps))
    return [gbps if gbps in model.ports_by_gbps else max(g for g in model.ports_by_gbps if g != model.uplink_gbps) for model, gbps in zip(models, fastest.tolist(), strict=True)]


def cages(fabric: Fabric) -> Cages:
    """Of a fabric with switches."""
    kinds: dict[Socket, int] = {}
    manager = fabric.manager if fabric.manager and fabric.manager.ports else None
    managers = manager.hosts if manager else ()
    pools = list(map(pool_of, fabric.hosts))
    rows = {pool: row for row, pool in enumerate(dict.fromkeys(pools))}
    switches, sizes = _switches(fabric, kinds)
    hosts, of_hosts = _hosts([fabric.nics[pool] for pool in rows], [rows[pool] for pool in pools], fabric.planes, kinds)
    others, of_managers = _hosts([manager.nic if manager else None], [0] * len(managers), 1, kinds)
    counts = np.concatenate([sizes, of_hosts, of_managers])
    starts = np.cumsum(counts) - counts
    first = np.split(starts, np.cumsum([len(sizes), len(of_hosts)]))
    names = (*fabric.switch_names, *fabric.hosts, *managers)
    return Cages(tuple(kinds), names, starts, int(counts.sum()), switches._replace(first=first[0]), hosts._replace(first=first[1]), others._replace(first=first[2]))


def _switches(fabric: Fabric, kinds: dict[Socket, int]) -> tuple[_Switches, Numbers]:
    """With the number of cages of each."""
    rows = []
    for model, gbps in zip([tier.switch for tier in fabric.tiers for _ in tier.names], counted_gbps(fabric), strict=True):
        share, up = model.shares(gbps), model.uplink_gbps or 0
        own = kinds.setdefault(Socket(model.form_of(gbps), share), len(kinds))
        above = kinds.setdefault(Socket(model.form_of(up), 1), len(kinds)) if up else own
        rows.append((0, share, model.cages - model.ports(up), up, own, above, model.cages))
    columns = np.array(rows, dtype=np.int64).T
    return _Switches(*columns[:6]), columns[6]


def _hosts(nics: Sequence[HostNic | None], of: Sequence[int], planes: int, kinds: dict[Socket, int]) -> tuple[_Hosts, Numbers]:
    """Of hosts whose adapters are ``nics[of[i]]``, with the number of cages of each. An adapter that nobody knows has a cage a port."""
    known = [nic or HostNic(nic="unknown", count=8, gbps=1) for nic in nics]
    cage = np.zeros((len(nics), max(nic.count for nic in known)), dtype=np.int64)
    for row, nic in zip(cage, known, strict=True):
        row[: nic.count] = np.array(nic.cage_of) - 1
    sockets = [Socket(catalog.nic(nic.nic).form if nic else None, (nic.cage_ports if nic else 1) * planes, True) for nic in nics]
    kind = [kinds.setdefault(socket, len(kinds)) for socket in sockets]
    index = np.array(of, dtype=np.int64)
    sizes, ports = (np.array(column, dtype=np.int64) for column in ([max(nic.cage_of) for nic in known], [nic.count for nic in known]))
    return _Hosts(np.zeros_like(index), index, ports, np.array(kind, dtype=np.int64), cage), sizes[index]
