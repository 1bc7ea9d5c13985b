"""From counts to cables: which port of which device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .model import Cable, Fabric, Links, pool_of

if TYPE_CHECKING:
    import networkx as nx


def links(fabric: Fabric) -> Iterator[Links]:
    """Every link: of hosts, of the manager, then of the switches plane by plane; an array at a time, since each may be large."""
    if not fabric.tiers:
        return
    yield from _host_links(fabric)
    yield from _manager_links(fabric)
    for plane in range(fabric.planes):
        yield from (_in_plane(fabric, found, plane) for found in (fabric.trunks.links() if fabric.trunks else ()))


def cables(fabric: Fabric) -> Iterator[Cable]:
    """The same by name."""
    switches, hosts = fabric.switch_names, fabric.hosts
    names = {pool: port_names(fabric, pool) for pool in fabric.nics}
    for found in links(fabric):
        ends = zip(*(x.tolist() for x in (found.a, found.a_port, found.b, found.b_port)), strict=True)
        if found.joins == "host-leaf":
            for a, a_port, b, b_port in ends:
                yield Cable(hosts[a], names[pool_of(hosts[a])][a_port], switches[b], str(b_port), found.gbps, found.joins)
        elif found.joins == "manager-leaf":
            assert fabric.manager
            for a, a_port, b, b_port in ends:
                yield Cable(fabric.manager.hosts[a], _manager_port(fabric, a_port), switches[b], str(b_port), found.gbps, found.joins)
        else:
            for a, a_port, b, b_port in ends:
                yield Cable(switches[a], str(a_port), switches[b], str(b_port), found.gbps, found.joins)


def port_names(fabric: Fabric, pool: str) -> tuple[str, ...]:
    """Names of a host's ports on this fabric, rail by rail: RDMA device, else network interface, else a number. With several
    planes a port has a name for each, ``mlx5_0/1`` and ``mlx5_0/2``, plane by plane."""
    nic = fabric.nics[pool]
    names = nic.rdma_names or nic.interfaces or tuple(f"{fabric.purpose}{i}" for i in range(nic.count))
    if fabric.planes == 1:
        return names
    return tuple(f"{name}/{plane + 1}" for plane in range(fabric.planes) for name in names)


def _host_links(fabric: Fabric) -> Iterator[Links]:
    """One array a speed; hosts in port order, the ports of a host side by side."""
    counts = np.array([fabric.nics[pool_of(h)].count for h in fabric.hosts], dtype=np.int64)
    gbps = np.array([fabric.link_gbps[pool_of(h)] for h in fabric.hosts], dtype=np.int64)
    group = np.repeat(np.arange(len(fabric.groups)), [len(g.hosts) for g in fabric.groups])
    first = np.array([p for g in fabric.groups for p in g.ports], dtype=np.int64)
    host = np.repeat(np.arange(len(counts)), counts)
    rail = np.arange(len(host)) - np.repeat(np.cumsum(counts) - counts, counts)
    per_plane = len(fabric.leaves) // fabric.planes
    if fabric.by_rail:
        leaf, port = group[host] * len(fabric.groups[0].leaves) // fabric.planes + rail, first[host]
    else:
        leaf, port = group[host], first[host] + rail
    for plane in range(fabric.planes):
        for speed in np.unique(gbps):
            own = gbps[host] == speed
            yield Links("host-leaf", int(speed), host[own], (rail + plane * counts[host])[own], (leaf + plane * per_plane)[own], port[own])


def _manager_links(fabric: Fabric) -> Iterator[Links]:
    """The manager's ports take the last down-ports of the first group, leaf by leaf, spread over its hosts; in each subnet those of its
    own leaves."""
    manager = fabric.manager
    if not manager or not manager.ports:
        return
    at = [(subnet, *seat, k) for subnet in range(manager.subnets) for k, seat in enumerate(manager.seats(subnet))]
    subnet, host, host_port, k = (np.array(column, dtype=np.int64) for column in zip(*at, strict=True))
    rails = max(1, manager.subnets // fabric.planes)  # that nothing joins
    first = subnet // rails * (len(fabric.leaves) // fabric.planes)
    leaves = len(fabric.groups[0].leaves) // fabric.planes // rails
    gbps = max(fabric.link_gbps.values())
    if manager.nic:
        gbps = min(gbps, manager.nic.gbps)
    yield Links("manager-leaf", gbps, host, host_port, first + subnet % rails + k % leaves, fabric.reserved + k // leaves)


def _in_plane(fabric: Fabric, found: Links, plane: int) -> Links:
    """Switches of one plane, counted from 0 tier by tier, as those of the fabric, where every tier has the planes in turn."""
    if fabric.planes == 1:
        return found
    sizes = np.array([len(tier.names) for tier in fabric.tiers]) // fabric.planes
    ends = np.cumsum(sizes)
    shift = (fabric.planes - 1) * (ends - sizes) + plane * sizes
    return replace(found, a=found.a + shift[np.searchsorted(ends, found.a, "right")], b=found.b + shift[np.searchsorted(ends, found.b, "right")])


def _manager_port(fabric: Fabric, i: int) -> str:
    """Name of port ``i`` of a manager's host: the RDMA device where the catalog has one, else the fabric's name and a number."""
    names = fabric.manager.nic.rdma_names if fabric.manager and fabric.manager.nic else ()
    return names[i] if i < len(names) else f"{fabric.name}{i}"


def graph(fabric: Fabric) -> nx.Graph:
    """The fabric as a graph: a vertex a host and a switch (``tier`` 0 host, 1 leaf, 2 spine, 3 core), an edge for each pair that is
    joined, with the number of ``links`` and their ``gbps`` in sum."""
    import networkx as nx  # takes longer to import than all that is counted without a graph

    g = nx.Graph(name=fabric.name)
    g.add_nodes_from(fabric.hosts, tier=0)
    for number, tier in enumerate(fabric.tiers):
        g.add_nodes_from(tier.names, tier=number + 1)
    manager = fabric.manager.hosts if fabric.manager and fabric.manager.ports else ()
    g.add_nodes_from(manager, tier=0)
    switches = fabric.switch_names
    for found in links(fabric):
        pairs, counts = np.unique(np.stack([found.a, found.b]), axis=1, return_counts=True)
        ends = {"host-leaf": fabric.hosts, "manager-leaf": manager}.get(found.joins, switches)
        for a, b, n in zip(*pairs.tolist(), counts.tolist(), strict=True):
            one, two = ends[a], switches[b]
            before = g.edges[one, two]["links"] if g.has_edge(one, two) else 0
            g.add_edge(one, two, links=before + n, gbps=(before + n) * found.gbps, joins=found.joins)
    return g
