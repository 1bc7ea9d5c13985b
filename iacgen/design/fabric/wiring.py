"""From counts to cables: which port of which device."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx

from .model import Cable, Fabric, SwitchGroup


def cables(fabric: Fabric) -> Iterator[Cable]:
    """Every cable. Host j of a group takes the j-th down-ports; uplinks take the last ports of a leaf, spine by spine.

    On a spine, leaf number i (from 0) owns ports i*k+1 .. i*k+k, where k is the number of parallel links of a pair.
    """
    if fabric.switch is None:
        return
    for group in fabric.groups:
        yield from _host_cables(fabric, group)
    yield from _manager_cables(fabric)
    if fabric.uplinks is None:
        return
    separate = fabric.switch.uplink_gbps is not None
    radix = fabric.switch.ports(fabric.uplinks.gbps)
    down = sum(fabric.switch.ports_by_gbps.values()) - radix if separate else radix - fabric.uplinks.count
    k = fabric.uplinks.parallel
    for i, leaf in enumerate(fabric.leaves):
        for up in range(fabric.uplinks.count):
            spine = fabric.spines[up // k]
            yield Cable(leaf, str(down + up + 1), spine, str(i * k + up % k + 1), fabric.uplinks.gbps, "leaf-spine")


def port_names(fabric: Fabric, host: str) -> tuple[str, ...]:
    """Names of a host's ports on this fabric, in rail order: RDMA device, else network interface, else a number."""
    nic = fabric.nics[host.rstrip("0123456789")]
    return nic.rdma_names or nic.interfaces or tuple(f"{fabric.purpose}{i}" for i in range(nic.count))


def _host_cables(fabric: Fabric, group: SwitchGroup) -> Iterator[Cable]:
    port = 0
    for host in group.hosts:
        gbps = fabric.link_gbps[host.rstrip("0123456789")]
        if fabric.topology == "rail-fat-tree":
            port += 1
            for leaf, name in zip(group.leaves, port_names(fabric, host), strict=True):
                yield Cable(host, name, leaf, str(port), gbps, "host-leaf")
        else:
            for name in port_names(fabric, host):
                port += 1
                yield Cable(host, name, group.leaves[0], str(port), gbps, "host-leaf")


def _manager_cables(fabric: Fabric) -> Iterator[Cable]:
    """The manager's ports take the first free down-port of the last leaves that have one, spread over its hosts."""
    if not fabric.manager or not fabric.manager.ports:
        return
    group = fabric.groups[-1]
    used = sum(fabric.leaf_ports(h) for h in group.hosts)
    gbps = max(fabric.link_gbps.values())
    if fabric.manager.nic:
        gbps = min(gbps, fabric.manager.nic.gbps)
    for n in range(fabric.manager.ports):
        leaf = group.leaves[n % len(group.leaves)]
        host = fabric.manager.hosts[n % len(fabric.manager.hosts)]
        yield Cable(host, _manager_port(fabric, n // len(fabric.manager.hosts)), leaf, str(used + 1 + n // len(group.leaves)), gbps, "manager-leaf")


def _manager_port(fabric: Fabric, i: int) -> str:
    """Name of port ``i`` of a manager's host: the RDMA device where the catalog has one, else the fabric's name and a number."""
    names = fabric.manager.nic.rdma_names if fabric.manager and fabric.manager.nic else ()
    return names[i] if i < len(names) else f"{fabric.name}{i}"


def graph(fabric: Fabric) -> nx.MultiGraph:
    """The fabric as a multigraph: a vertex a host and a switch (``tier`` 0, 1 leaf, 2 spine), an edge a cable with its ports."""
    g = nx.MultiGraph(name=fabric.name)
    tiers = [(0, (h for group in fabric.groups for h in group.hosts)), (1, fabric.leaves), (2, fabric.spines)]
    for tier, names in tiers:
        g.add_nodes_from(names, tier=tier)
    if fabric.manager and fabric.manager.ports:
        g.add_nodes_from(fabric.manager.hosts, tier=0)
    for cable in cables(fabric):
        g.add_edge(cable.a, cable.b, ports={cable.a: cable.a_port, cable.b: cable.b_port}, gbps=cable.gbps, joins=cable.joins)
    return g
