"""Ansible for each on-prem site: roles that are the same bytes for every cluster, and an inventory that holds its facts."""

from __future__ import annotations

from ...design.model import Design, Site
from ...placement.project import Project
from ...render import render as render_template
from ...render import static_tree
from .inventory import groups, pools_of
from .lustre import targets_of
from .variables import client_mounts, cluster_pools, lnet_networks, managed_fabrics, pool_facts, pool_ports, roce_classes, slurm_here

__all__ = ["render"]

_TEMPLATES = "ansible/inventory/"


def render(project: Project) -> dict[str, str]:
    """Path → text of ``ansible/<site>/`` for every on-prem site that has hosts."""
    tree: dict[str, str] = {}
    caches = {job.reading.input.cache.pool for job in project.jobs.values() if job.reading.input.cache and job.reading.input.cache.pool}
    for site in sorted(project.design.sites.values(), key=lambda s: s.name):
        if site.kind == "on-prem" and pools_of(project.design, site.name):
            files = static_tree("ansible/static") | {f"inventory/{path}": text for path, text in _inventory(project.design, site, caches).items()}
            tree |= {f"ansible/{site.name}/{path}": text for path, text in sorted(files.items())}
    return tree


def _inventory(design: Design, site: Site, caches: set[str]) -> dict[str, str]:
    """Path below ``inventory/`` → text. A group without facts has no file."""
    out = {
        "hosts.yml": _file("hosts.yml", groups=groups(design, site.name, caches)),
        "group_vars/all/cluster.yml": _file("group_vars/all/cluster.yml", purpose=design.descriptions.get(()), domain=site.domain, pools=cluster_pools(design, site.name), time_servers=design.software.time_servers),
    }
    for pool in pools_of(design, site.name):
        lustre = {"networks": lnet_networks(design, pool), "mounts": client_mounts(design, pool)}
        words = pool_facts(design, pool) | pool_ports(design, pool) | lustre
        out[f"group_vars/pool_{pool.name.replace('-', '_')}.yml"] = _file("group_vars/pool.yml", **words)
    facts = {
        "gpu_hosts": any(pool.gpu for pool in pools_of(design, site.name)) and {"branch": design.software.driver.split(".")[0]},
        "subnet_managers": managed_fabrics(design, site.name),
        "roce_hosts": roce_classes(design, site.name),
        "lustre_servers": targets_of(design, site.name),
        "slurm_hosts": slurm_here(design, site.name),
    }
    return out | {f"group_vars/{name}.yml": _file(f"group_vars/{name}.yml", **words) for name, words in facts.items() if words}


def _file(path: str, **words: object) -> str:
    return render_template(f"{_TEMPLATES}{path}.j2", **words)
