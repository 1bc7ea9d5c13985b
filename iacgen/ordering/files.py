"""Orders as files for every launcher and scheduler, and the check that what was written says what was meant."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from iacgen.design.fabric.hierarchy import Hierarchy
from iacgen.design.model import Design
from iacgen.diagnostics import Diagnostic
from iacgen.placement.model import digest
from iacgen.placement.placing import recounted
from iacgen.placement.reread import reread
from iacgen.render.order import order_files
from iacgen.targets.launchers import cores
from iacgen.targets.slurm.topology import hierarchies
from iacgen.targets.slurm.topology_files import YAML_SINCE, topology_files
from iacgen.targets.slurm.versions import parse_version

from .data import data
from .ground import NoGround
from .model import Ordering

MARK = "placement.json"
"""The file that every folder of orders has."""
_ALIKE = ("hostfile", "rankfile", "node-ranks", "indexes.csv")  # what nothing of NVIDIA's stands in
_BLOCKS_IN = (24, 11)


def files(design: Design, orderings: Sequence[Ordering], block_sizes: Sequence[int] = ()) -> dict[str, str]:
    """Path → text: ``<job>/`` with the order in the form of each launcher, ``slurm/`` with the topology, ``placement.json``.

    For accelerators that are not NVIDIA's only what is the same for all. ``slurm/topology.conf`` is for versions before 25.05, ``topology.yaml`` for later
    ones, ``slurm/block/topology.conf`` for topology/block, where all hosts are in NVLink domains. ``block_sizes`` are those of its blocks, in place
    of computed ones; raises NoGround where Slurm would not take them.
    """
    out = {MARK: json.dumps(data(design.name, orderings), indent=1) + "\n"}
    for ordering in orderings:
        pool, placement, name = ordering.pool, ordering.placement, ordering.job.name
        made = order_files(name, placement.hosts, placement.gpus_per_node, cores(pool, placement.gpus_per_node))
        out |= {f"{name}/{file}": text for file, text in made.items() if not pool.only_planned or file in _ALIKE or file == f"{name}.ranks"}
    return dict(sorted((out | _topology(design, orderings, block_sizes)).items()))


def _topology(design: Design, orderings: Sequence[Ordering], block_sizes: Sequence[int]) -> dict[str, str]:
    made = [ordering.ground for ordering in orderings if ordering.ground.found]
    pools = list({ordering.pool.name: ordering.pool for ordering in orderings}.values())
    of: Sequence[Hierarchy] = hierarchies(design, pools)
    source = "the blueprint"
    if made:
        by_name = {ground.name: ground.found for ground in made if ground.found}
        of = [_for_slurm(found, design) for found in by_name.values()]
        source = ", ".join(dict.fromkeys(file for ground in made for file in ground.files))
    jobs = [ordering.placement.hosts for ordering in orderings]
    version = parse_version(design.scheduler.version) if design.scheduler else _BLOCKS_IN
    before = min(version, _BLOCKS_IN)
    out: dict[str, str] = {}
    for folder, wanted, plugin in (("slurm", before, "tree"), ("slurm/block", _BLOCKS_IN, "block"), ("slurm", max(version, YAML_SINCE), "tree")):
        text = topology_files(design.name, of, wanted, "block" if plugin == "block" else "tree", jobs, source, block_sizes)
        if isinstance(text, Diagnostic) and block_sizes:
            raise NoGround(text.message)
        if not isinstance(text, Diagnostic):
            out |= {f"{folder}/{name}": content for name, content in text.items()}
    return out


def _for_slurm(found: Hierarchy, design: Design) -> Hierarchy:
    """The hosts of the cluster alone, as Slurm takes no node that slurm.conf does not name, and of its NVLink domains those of machines that have
    NVLink between them: what a source calls a block or a capacity block may be no more than a leaf, and as a leaf of the tree it would hide the true ones."""
    joined = {host: pool.system.nvlink_domain_servers > 1 for pool in design.pools.values() for host in pool.hosts}
    one = found.only([host for host in found.hosts if host in joined])
    domains = tuple(domain if joined[host] else None for host, domain in zip(one.hosts, one.domains, strict=True)) if one.domains else ()
    return replace(one, domains=domains if any(domains) else ())


def faults(design: Design, orderings: Sequence[Ordering], tree: Mapping[str, str]) -> Iterator[str]:
    """What the texts of ``tree`` say otherwise than the orders: the ranks on hosts that each launcher will read there, and the cost of these."""
    for ordering in orderings:
        placement, name = ordering.placement, ordering.job.name
        idle = {*placement.hosts, *(i.host for i in placement.idle if i.why not in ("down", "place unknown", "apart"))}
        mine = {path: text for path, text in tree.items() if path.startswith(f"{name}/")}
        hosts, findings = reread(mine, placement.gpus_per_node, idle)
        yield from (finding.message for finding in findings)
        if digest(hosts) != placement.digest:
            yield f"{name}: the hosts in the files are not those of the placement"
        elif recounted(design, ordering.pool.name, ordering.job, hosts, ordering.ground.found) != placement.cost:
            yield f"{name}: the order in the files does not cost what the placement says"
