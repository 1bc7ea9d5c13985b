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
    and one parent of all. Hosts without a compute fabric form one switch a pool.
    """
    wanted = {host for pool in pools for host in pool.hosts}
    fabrics = [f for f in design.fabrics.values() if f.purpose == "compute" and any(p.name in f.pools for p in pools)]
    on_fabric = {name for fabric in fabrics for name in fabric.pools}
    loose = [pool for pool in pools if pool.name not in on_fabric]
    trees = [_of_fabric(fabric, wanted) for fabric in fabrics]
    trees += [Tree((Switch(f"pool-{pool.name}", nodes=fold(pool.hosts)),), (f"pool-{pool.name}",)) for pool in loose]
    return Tree(tuple(s for tree in trees for s in tree.switches), tuple(root for tree in trees for root in tree.roots))


def _of_fabric(fabric: Fabric, wanted: set[str]) -> Tree:
    groups = [(_limited(group.name), [host for host in group.hosts if host in wanted]) for group in fabric.groups]
    leaves = tuple(Switch(name, nodes=fold(hosts)) for name, hosts in groups if hosts)
    names = tuple(leaf.name for leaf in leaves)
    if fabric.trunks is None:
        return Tree(leaves, names)
    below = [(pod.name, [groups[g][0] for g in pod.groups if groups[g][1]]) for pod in fabric.pods]
    pods = tuple(Switch(_limited(name), children=fold(members)) for name, members in below if members)
    if len(pods) < 2:
        pods = ()
    parent = Switch(_limited(f"{fabric.name}-{'top' if pods else 'spine'}"), children=fold([pod.name for pod in pods] or names))
    return Tree((*leaves, *pods, parent), (parent.name,))


def _limited(name: str) -> str:
    """The name, or its beginning and a digest of the whole where it is longer than Slurm allows."""
    if len(name) <= MAX_NAME:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: MAX_NAME - len(digest) - 1]}-{digest}"
