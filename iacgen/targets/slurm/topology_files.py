"""The file that tells Slurm the topology: ``topology.conf`` with a tree or with blocks, from 25.05 on ``topology.yaml`` with both.

topology/tree is the plan's choice for racks of NVLink too, although topology/block was made for them: before 25.05 a cluster has one
topology, and blocks know neither the units nor the pods above them; a host outside the domains gets no job, the smallest domain sets the
size of all, and a list of hosts that does not fill whole blocks is refused. As leaves of a tree domains are kept together all the same.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

from ...design.fabric.hierarchy import Hierarchy
from ...diagnostics import Diagnostic
from ...render import render
from .blocks import Blocks, blocks
from .topology import Tree, tree

Plugin = Literal["tree", "block"]
YAML_SINCE = (25, 5)
"""The first version with topology.yaml, beside which it does not look at topology.conf (Slurm's release notes; tried on 26.05.5)."""


def topology_files(
    cluster: str, of: Sequence[Hierarchy], version: tuple[int, int], plugin: Plugin = "tree", jobs: Collection[Sequence[str]] = (), source: str = "the blueprint", sizes: Sequence[int] = ()
) -> dict[str, str] | Diagnostic:
    """Name → text of what Slurm ``version`` reads, or why it cannot be written (IAC664: blocks are wanted, and no NVLink domain is known).

    ``of``: planned or discovered, each with at least one tier. ``jobs``: host lists that are to run as they are, which limits the sizes
    of blocks; ``sizes`` are those to be in place of computed ones. ``source`` says in words what the file was made from. Before 25.05 ``TopologyPlugin=topology/<plugin>`` stands in slurm.conf;
    topology.yaml names its own, and holds the domains beside the tree wherever they are known.
    """
    if version < YAML_SINCE:
        if plugin == "tree":
            return {"topology.conf": tree_conf(cluster, tree(of), any(any(h.domains) for h in of), source)}
        made = blocks(of, version, jobs, sizes)
        return made if isinstance(made, Diagnostic) else {"topology.conf": blocks_conf(cluster, made, source)}
    made = blocks(of, version, jobs, sizes)
    if isinstance(made, Diagnostic) and plugin == "block":
        return made
    return {"topology.yaml": yaml_file(cluster, tree(of), None if isinstance(made, Diagnostic) else made, plugin, source)}


def tree_conf(cluster: str, made: Tree, domains: bool = False, source: str = "the blueprint") -> str:
    """topology.conf for topology/tree; ``domains``: whether its leaves are NVLink domains."""
    return render("slurm/topology.conf.j2", cluster=cluster, source=source, switches=made.switches, islands=made.roots, domains=domains)


def blocks_conf(cluster: str, made: Blocks, source: str = "the blueprint") -> str:
    """topology.conf for topology/block."""
    return render("slurm/blocks.conf.j2", cluster=cluster, source=source, blocks=made.blocks, sizes=",".join(map(str, made.sizes)), smaller=made.sizes[0] < made.whole)


def yaml_file(cluster: str, made: Tree, domains: Blocks | None, plugin: Plugin = "tree", source: str = "the blueprint") -> str:
    """topology.yaml: the tree as ``fabric`` and, where there are any, the domains as ``nvlink``; the one of ``plugin`` is the cluster's default."""
    words = {"blocks": domains.blocks, "sizes": list(domains.sizes)} if domains else {"blocks": (), "sizes": []}
    return render("slurm/topology.yaml.j2", cluster=cluster, source=source, switches=made.switches, by_block=plugin == "block", **words)
