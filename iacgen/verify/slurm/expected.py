"""The tree that the fabric implies, worked out from its cables; and the tree that Slurm has read.

Hosts that hang on the same leaves are one switch, whatever the fabric calls its groups; leaves that reach each other over
spines, or within a group of a dragonfly, have one parent, and what reaches each other only over cores or from group to group has
one above. Nothing here looks at what the Slurm target wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import networkx as nx

from ..findings import some
from .files import expand, lines

Hosts = frozenset[str]


@dataclass(frozen=True)
class Topology:
    """A forest without names: the host sets of its leaf switches, and for each parent the sets right below it."""

    leaves: frozenset[Hosts]
    parents: frozenset[frozenset[Hosts]]

    @property
    def islands(self) -> int:
        """Trees of the forest: the sets of hosts that lie in no larger one."""
        seen: set[str] = set()
        count = 0
        for hosts in sorted({*self.leaves, *(frozenset().union(*parent) for parent in self.parents)}, key=len, reverse=True):
            count += not hosts <= seen
            seen |= hosts
        return count


def declared_version(design: Any) -> tuple[int, int]:
    """The version of Slurm that the blueprint declares."""
    major, minor = design.scheduler.version.split(".")[:2]
    return int(major), int(minor)


def slurm_nodes(design: Any) -> set[str]:
    """The hosts of all pools that some queue runs on."""
    pools = {name for partition in design.scheduler.partitions for name in partition.pools}
    return {host for name in pools for host in design.pools[name].hosts}


def racks(design: Any) -> list[Hosts]:
    """The NVLink domains among the hosts of Slurm's queues: its blocks, where it sees blocks."""
    return _racks(design, {name for partition in design.scheduler.partitions for name in partition.pools})


def by_block(design: Any) -> bool:
    """Whether the blueprint has Slurm see blocks in place of a tree."""
    return design.scheduler.topology == "block"


def implied(design: Any) -> Topology:
    """What the compute fabrics imply for the hosts of Slurm's queues. Hosts of a pool on no such fabric share one switch."""
    pools = {name for partition in design.scheduler.partitions for name in partition.pools}
    wanted = slurm_nodes(design)
    fabrics = [f for f in design.fabrics.values() if f.purpose == "compute" and pools & set(f.pools)]
    leaves: set[Hosts] = set()
    parents: set[frozenset[Hosts]] = set()
    for fabric in fabrics:
        if fabric.switch is None:  # a cloud shows no switches: what it places together is one
            leaves |= {frozenset(design.pools[name].hosts) for name in fabric.pools if name in pools}
        else:
            below, above = _from_cables(fabric.wiring(), wanted)
            leaves |= below
            parents |= above
    loose = pools - {name for fabric in fabrics for name in fabric.pools}
    leaves, parents = _racked(leaves, parents, _racks(design, pools - loose))
    return Topology(frozenset(leaves | {frozenset(design.pools[name].hosts) for name in loose}), frozenset(parents))


def _racks(design: Any, pools: set[str]) -> list[Hosts]:
    """Hosts of each NVLink domain that is more than one of them, by their numbers."""
    racks: dict[tuple[str, int], set[str]] = {}
    for name in pools:
        system = design.pools[name].system
        if system.gpus and system.nvlink_domain_gpus > system.gpus:
            for host in design.pools[name].hosts:
                racks.setdefault((name, (int(host[len(name) :]) - 1) * system.gpus // system.nvlink_domain_gpus), set()).add(host)
    return [frozenset(rack) for rack in racks.values()]


def _racked(leaves: set[Hosts], parents: set[frozenset[Hosts]], racks: list[Hosts]) -> tuple[set[Hosts], set[frozenset[Hosts]]]:
    """The forest with NVLink domains as its leaves. Where one lies in two pods there are no pods, and units are parents only where each holds
    whole domains."""
    if not racks:
        return leaves, parents
    joined = frozenset().union(*racks)
    new = {leaf - joined for leaf in leaves if leaf - joined} | set(racks)
    if all(any(rack <= leaf for leaf in leaves) for rack in racks):
        return new, parents | {inside for leaf in leaves if len(inside := frozenset(one for one in new if one <= leaf)) > 1}
    above: set[frozenset[Hosts]] = set()
    pods = {frozenset().union(*parent) for parent in parents if parent <= leaves}
    for parent in parents:
        hosts = frozenset().union(*parent)
        if not parent <= leaves and not any(rack & pod and not rack <= pod for rack in racks for pod in pods):
            above.add(parent)
        elif all(not leaf & hosts or leaf <= hosts for leaf in new):
            above.add(frozenset(leaf for leaf in new if leaf <= hosts))
    alone = [leaf for leaf in leaves if not any(leaf <= frozenset().union(*parent) for parent in parents)]
    return new, above | {inside for leaf in alone if len(inside := frozenset(one for one in new if one <= leaf)) > 1}


def _from_cables(cables: Any, wanted: set[str]) -> tuple[set[Hosts], set[frozenset[Hosts]]]:
    leaves_of: dict[str, set[str]] = {}
    near, all_of_it = nx.Graph(), nx.Graph()
    for cable in cables:
        if cable.joins == "host-leaf" and cable.a in wanted:
            leaves_of.setdefault(cable.a, set()).add(cable.b)
        elif cable.joins not in ("host-leaf", "manager-leaf"):
            all_of_it.add_edge(cable.a, cable.b)
            if cable.joins in ("leaf-spine", "leaf-leaf"):
                near.add_edge(cable.a, cable.b)
    hosts_of: dict[frozenset[str], set[str]] = {}
    for host, leaves in leaves_of.items():
        hosts_of.setdefault(frozenset(leaves), set()).add(host)

    def joined(trunk: nx.Graph) -> set[frozenset[Hosts]]:
        parts = (frozenset(frozenset(hosts) for leaves, hosts in hosts_of.items() if leaves & part) for part in nx.connected_components(trunk))
        return {part for part in parts if part}

    pods = joined(near)
    tops = {frozenset(frozenset().union(*pod) for pod in pods if pod <= whole) for whole in joined(all_of_it) - pods}
    return {frozenset(hosts) for hosts in hosts_of.values()}, pods | tops


def read(show_topology: str) -> tuple[Topology, dict[Hosts, str]]:
    """The forest in the output of ``scontrol show topology``, and the name of each leaf switch."""
    nodes, children = {}, {}
    for line in lines(show_topology):
        below = children if line.get("Switches") else nodes
        below[line.get("SwitchName")] = expand(line.get("Switches") or line.get("Nodes"))
    names = {frozenset(hosts): name for name, hosts in nodes.items()}
    parents = {frozenset(_below(child, nodes, children) for child in below) for below in children.values()}
    return Topology(frozenset(names), frozenset(parents)), names


def _below(switch: str, nodes: Mapping[str, list[str]], children: Mapping[str, list[str]]) -> Hosts:
    if switch in nodes:
        return frozenset(nodes[switch])
    return frozenset().union(*(_below(child, nodes, children) for child in children.get(switch, ())))


def differences(want: Topology, got: Topology, names: Mapping[Hosts, str]) -> list[str]:
    """How the forest that Slurm has read differs from the one that the fabric implies; empty when it does not."""
    out = []
    for leaf in sorted(got.leaves - want.leaves, key=lambda leaf: names[leaf]):
        meant = max(want.leaves, key=lambda w: (len(w & leaf), sorted(w)), default=frozenset())
        parts = [f"{verb} {some(hosts)}" for verb, hosts in (("lacks", meant - leaf), ("should not have", leaf - meant)) if hosts]
        out.append(f"switch {names[leaf]} {' and '.join(parts)}")
    if not out and want.leaves - got.leaves:
        out += [f"no switch holds {some(leaf)}" for leaf in sorted(want.leaves - got.leaves, key=sorted)]
    if not out and want.parents != got.parents:
        out.append(f"{_counts(got.parents)} where the fabric has {_counts(want.parents)}")
    return out


def _counts(parents: frozenset[frozenset[Hosts]]) -> str:
    return f"{len(parents)} parents over {' + '.join(str(n) for n in sorted(len(p) for p in parents)) or 0} leaves"
