"""Terraform for the AWS sites: a root of fixed text for everybody, and the cluster's data as ``terraform.tfvars.json``.

Data varies, code does not: a reviewer reads the variables only. What the AWS provider accepts though it is wrong (interface
counts, sizes of a file system, reservations, addresses) is checked again inside the root, for those who edit the variables.
"""

from __future__ import annotations

import ipaddress
import json

from iacgen.design.model import S3, Design, FsxLustre, Pool, Site
from iacgen.placement.project import Project
from iacgen.render import static_tree

_TEMPLATES = "terraform/aws"
_SMALLEST_SUBNET = 28  # prefix length; Amazon VPC User Guide, "Subnet CIDR blocks"


def render(project: Project) -> dict[str, str]:
    """``terraform/<site>/`` for each AWS site of the design; nothing where there is none."""
    sites = [site for site in project.design.sites.values() if site.kind == "aws"]
    fixed = static_tree(_TEMPLATES) if sites else {}
    tree = {}
    for site in sites:
        folder = f"terraform/{site.name}"
        tree |= {f"{folder}/{path}": text for path, text in fixed.items()}
        tree[f"{folder}/terraform.tfvars.json"] = json.dumps(variables(project.design, site), indent=2) + "\n"
    return tree


def variables(design: Design, site: Site) -> dict[str, object]:
    """The values of the root's variables for one site; all but the machine image, which is the operator's."""
    private, public = (site.existing.addresses, None) if site.existing else subnets(site.network)
    heads = _heads(design, site)
    pools = [pool for pool in design.pools.values() if pool.site == site.name]
    return {
        "cluster": design.name,
        "site": site.name,
        **({"purpose": purpose} if (purpose := design.descriptions.get(())) else {}),
        "domain": site.domain,
        "region": site.region,
        "zone": site.zone,
        "vpc_cidr": site.network,
        "private_cidr": private,
        "public_cidr": public,
        **_existing(site),
        "admin_cidrs": list(site.admin_networks),
        # Without a controller at the site its machines come up, but join no queue.
        "slurm_version": design.scheduler.version if design.scheduler and heads else None,
        "heads": heads,
        "pools": {pool.name: spec for pool in pools if (spec := _pool(design, pool, heads))["nodes"]},
        "file_systems": _file_systems(design, site),
        "buckets": _buckets(design, site),
    }


def _existing(site: Site) -> dict[str, object]:
    """What the account has already, and what members of the group may send each other; nothing where all of it is made."""
    network = {"existing_network": {"vpc_id": site.existing.vpc, "subnet_id": site.existing.subnet}} if site.existing else {}
    group = {"security_group_id": site.security_group} if site.security_group else {}
    ports = {} if site.member_ports is None else {"member_ports": [{"from": first, "to": last} for first, last in site.member_ports]}
    return network | group | ports


def subnets(network: str) -> tuple[str, str]:
    """The private subnet, half of the network, and the public one, a slice at the end of the other half for a NAT gateway."""
    whole = ipaddress.IPv4Network(network)
    private, rest = whole.subnets(prefixlen_diff=1)
    length = max(rest.prefixlen, min(_SMALLEST_SUBNET, whole.prefixlen + 8))
    public = ipaddress.IPv4Network((int(rest.broadcast_address) >> (32 - length) << (32 - length), length))
    return str(private), str(public)


def _heads(design: Design, site: Site) -> dict[str, str]:
    """Machine type of each host that runs slurmctld at this site."""
    controllers = design.scheduler.controllers if design.scheduler else ()
    return {host: design.pool_of(host).system.id for host in controllers if design.pool_of(host).site == site.name}


def _pool(design: Design, pool: Pool, heads: dict[str, str]) -> dict[str, object]:
    """One pool without the hosts that are head nodes."""
    cloud = pool.system.cloud
    assert cloud, f"{pool.system.id} is no machine type of a cloud"
    queued = {name for partition in design.scheduler.partitions for name in partition.pools} if design.scheduler else set()
    cards = {} if pool.efa == cloud.efa_interfaces else {"efa_cards": cloud.efa_interfaces}
    chosen = {} if pool.placement_group is None else {"placement_group": pool.placement_group}
    return {
        "instance_type": pool.system.id,
        "nodes": [host for host in pool.hosts if host not in heads],
        "network_cards": cloud.network_cards,
        "efa_interfaces": pool.efa,
        **cards,
        "runs_jobs": pool.name in queued,
        "purchase": pool.capacity.kind,
        "reservation_id": pool.capacity.id,
        **chosen,
    }


def _file_systems(design: Design, site: Site) -> dict[str, object]:
    return {
        store.name: {
            "capacity_gib": store.capacity_gib,
            "throughput": store.throughput_mbps_per_tib,
            "mount": store.mount,
            "repository": store.exports_to,
        }
        for store in design.storage.values()
        if isinstance(store, FsxLustre) and store.site == site.name
    }


def _buckets(design: Design, site: Site) -> dict[str, object]:
    """Buckets by storage name. A prefix that the blueprint leaves out is the storage's name: the cluster's goes before it."""
    return {
        store.name: {"prefix": store.bucket_prefix if store.bucket_prefix != store.name else f"{design.name}-{store.name}"}
        for store in design.storage.values()
        if isinstance(store, S3) and store.site == site.name
    }
