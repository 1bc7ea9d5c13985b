"""The fabric as the tree that Slurm wants."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from ...design.fabric.model import Fabric
from ...design.model import Design, Pool
from ...render import fold

MAX_NAME = 64  # 24.11 does not start with a longer switch name


@dataclass(frozen=True)
class Switch:
    """One line of topology.conf: a leaf with ``nodes`` or a parent with ``children``, both hostlists."""

    name: str
    nodes: str = ""
    children: str = ""


@dataclass(frozen=True)
class Tree:
    """All switches, leaves before their parent, and the names of those that have no parent."""

    switches: tuple[Switch, ...]
    roots: tuple[str, ...]


def topology(design: Design, pools: list[Pool]) -> Tree:
    """The tree over the hosts of ``pools``.

    Each compute fabric gives a leaf a switch group (rail leaves share their hosts), a parent for each pod where there are several,
    and one parent of all. Where NVLink joins several hosts the leaves are its domains. Hosts without a compute fabric form one switch a pool.
    """
    wanted = {host for pool in pools for host in pool.hosts}
    fabrics = [f for f in design.fabrics.values() if f.purpose == "compute" and any(p.name in f.pools for p in pools)]
    on_fabric = {name for fabric in fabrics for name in fabric.pools}
    loose = [pool for pool in pools if pool.name not in on_fabric]
    trees = [_of_fabric(design, fabric, wanted) for fabric in fabrics]
    trees += [Tree((Switch(f"pool-{pool.name}", nodes=fold(pool.hosts)),), (f"pool-{pool.name}",)) for pool in loose]
    return Tree(tuple(s for tree in trees for s in tree.switches), tuple(root for tree in trees for root in tree.roots))


def _of_fabric(design: Design, fabric: Fabric, wanted: set[str]) -> Tree:
    below, pod_of = _leaves(design, fabric, wanted)
    leaves = tuple(Switch(name, nodes=fold(hosts)) for name, hosts in below.items())
    names = tuple(below)
    if fabric.trunks is None:
        return _apart(design, fabric, wanted, leaves)
    pods: tuple[Switch, ...] = ()
    if all(len(within) == 1 for within in pod_of.values()):  # else an NVLink domain lies in two
        members = {pod: [name for name in names if number in pod_of[name]] for number, pod in enumerate(pod.name for pod in fabric.pods)}
        pods = tuple(Switch(_limited(name), children=fold(some)) for name, some in members.items() if some)
    if len(pods) < 2:
        pods = ()
    parent = Switch(_limited(f"{fabric.name}-{'top' if pods else 'spine'}"), children=fold([pod.name for pod in pods] or names))
    return Tree((*leaves, *pods, parent), (parent.name,))


def _leaves(design: Design, fabric: Fabric, wanted: set[str]) -> tuple[dict[str, list[str]], dict[str, set[int]]]:
    """Leaf switch → its hosts, and the numbers of the pods that these hang on: the groups of the fabric, but where NVLink joins several
    hosts their domains, which are what a job must not be cut across."""
    below: dict[str, list[str]] = {}
    within: dict[str, set[int]] = {}
    pod = {group: number for number, one in enumerate(fabric.pods) for group in one.groups}
    for number, group in enumerate(fabric.groups):
        for host in (host for host in group.hosts if host in wanted):
            name = _domain(design, host) or _limited(group.name)
            below.setdefault(name, []).append(host)
            within.setdefault(name, set()).add(pod.get(number, 0))
    return below, within


def _domain(design: Design, host: str) -> str | None:
    pool = design.pool_of(host)
    together = pool.system.nvlink_domain_servers
    return _limited(f"nvlink-{pool.name}-{pool.index(host) // together + 1}") if together > 1 else None


def _apart(design: Design, fabric: Fabric, wanted: set[str], leaves: tuple[Switch, ...]) -> Tree:
    """Groups that no switch joins, each a tree of its own: a leaf, or what joins its NVLink domains."""
    out, roots = list(leaves), []
    for group in fabric.groups:
        inside = list(dict.fromkeys(_domain(design, host) or _limited(group.name) for host in group.hosts if host in wanted))
        if len(inside) > 1:
            out.append(Switch(_limited(f"{group.name}-all"), children=fold(inside)))
        roots += [_limited(f"{group.name}-all")] if len(inside) > 1 else inside
    return Tree(tuple(out), tuple(roots))


def _limited(name: str) -> str:
    """The name, or its beginning and a digest of the whole where it is longer than Slurm allows."""
    if len(name) <= MAX_NAME:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: MAX_NAME - len(digest) - 1]}-{digest}"
