"""Slurm: slurm.conf, gres.conf, cgroup.conf, topology.conf, and for each job its rank file, health check and batch script."""

from __future__ import annotations

from ...design.model import Design, Partition, Scheduler
from ...diagnostics import Diagnostic
from ...placement.project import Project
from ...render import fold, render as render_template
from .jobs import batch_script, health_script, rank_file
from .nodes import gres_lines, node_line, slurm_pools
from .topology import hierarchies
from .topology_files import topology_files
from .versions import IMEX_SINCE, parse_version, pid_files, word_lists

__all__ = ["render"]


def render(project: Project) -> dict[str, str]:
    """Path → text of all Slurm files; empty when the cluster has no scheduler."""
    design = project.design
    if design.scheduler is None:
        return {}
    tree = {
        "slurm/slurm.conf": _slurm_conf(design),
        "slurm/gres.conf": render_template("slurm/gres.conf.j2", cluster=design.name, lines=[line for pool in slurm_pools(design) for line in gres_lines(pool)]),
        "slurm/cgroup.conf": render_template("slurm/cgroup.conf.j2"),
        **_topology(project),
    }
    for name, placement in sorted(project.placements.items()):
        tree[f"slurm/{name}.ranks"] = rank_file(placement)
        tree[f"slurm/{name}.health"] = health_script(design, project.jobs[name], placement)
        tree[f"slurm/{name}.sbatch"] = batch_script(design, project.jobs[name], placement)
    return tree


def _slurm_conf(design: Design) -> str:
    scheduler, pools = design.scheduler, slurm_pools(design)
    shared = _shared_mount(design)
    version = parse_version(scheduler.version)
    active = scheduler.controllers if shared else scheduler.controllers[:1]
    return render_template(
        "slurm/slurm.conf.j2",
        cluster=design.name,
        version=scheduler.version,
        controllers=[_host_with_address(design, host) for host in active],
        standbys=scheduler.controllers[len(active) :],
        state=f"{shared}/slurm/{design.name}/state" if shared and len(active) > 1 else "/var/spool/slurmctld",
        topology=scheduler.topology,
        words=_words(scheduler),
        further={key: ",".join(words) for key, words in scheduler.parameters.items() if key not in word_lists(version, scheduler.topology)},
        pid_files=pid_files(version),
        imex=_joined(design) and version >= IMEX_SINCE,
        gres_types="gpu" if any(pool.gpu for pool in pools) else "",
        nodes=[node_line(design, pool) for pool in pools],
        down=[fold(pool.down) for pool in pools if pool.down],
        partitions=[_partition_words(design, partition) for partition in scheduler.partitions],
    )


def _words(scheduler: Scheduler) -> dict[str, str]:
    """The word lists of the version, each with the blueprint's further words at its end."""
    planned = word_lists(parse_version(scheduler.version), scheduler.topology)
    return {key: ",".join(filter(None, [words, *scheduler.parameters.get(key, ())])) for key, words in planned.items()}


def _joined(design: Design) -> bool:
    """Whether NVLink joins hosts of some queue."""
    return any(pool.system.nvlink_domain_servers > 1 for pool in slurm_pools(design))


def _topology(project: Project) -> dict[str, str]:
    """The topology as the version reads it. Raises ValueError for blocks without domains, which the checks refuse before."""
    design = project.design
    scheduler, jobs = design.scheduler, [placement.hosts for _, placement in sorted(project.placements.items())]
    made = topology_files(design.name, hierarchies(design, slurm_pools(design)), parse_version(scheduler.version), scheduler.topology, jobs)
    if isinstance(made, Diagnostic):
        raise ValueError(made.message)
    return {f"slurm/{name}": text for name, text in made.items()}


def _partition_words(design: Design, partition: Partition) -> dict[str, str]:
    hosts = [host for name in partition.pools for host in design.pools[name].hosts]
    return {"name": partition.name, "nodes": fold(hosts), "default": "YES" if partition.default else "NO", "max_time": partition.max_time}


def _host_with_address(design: Design, host: str) -> str:
    address = design.address(host)
    return f"{host}({address})" if address else host


def _shared_mount(design: Design) -> str:
    """Mount point of a file system that every controller mounts; empty where there is none."""
    pools = {design.pool_of(host).name for host in design.scheduler.controllers}
    for storage in design.storage.values():
        if storage.kind == "fsx-lustre" and all(design.pools[p].site == storage.site for p in pools):
            return storage.mount
        if storage.kind == "lustre" and pools <= set(storage.clients):
            return storage.mount
    return ""
