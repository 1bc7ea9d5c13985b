"""The facts of each group, as the roles' variables take them."""

from __future__ import annotations

import ipaddress

from ...design.fabric.model import Fabric, HostNic
from ...design.fabric.subnets import bound
from ...design.model import Design, Pool
from .inventory import fabrics_of, infiniband_of, lustres_of, only_managed, opensm_fabrics, pools_of
from .lustre import mount_unit


def cluster_pools(design: Design, site: str) -> list[dict[str, object]]:
    """Pools whose hosts this site must know by name and address: its own, and those of other sites that have planned addresses."""
    out = []
    for pool in sorted(design.pools.values(), key=lambda p: p.name):
        address = design.address(pool.hosts[0])
        if pool.site == site or address:
            facts: dict[str, object] = {"name": pool.name, "width": pool.width, "count": pool.count}
            out.append(facts | ({"address": str(address)} if address else {}))
    return out


def pool_facts(design: Design, pool: Pool) -> dict[str, object]:
    """What a host of this pool must show: memory, GPUs, NVSwitch."""
    return {
        "system": pool.system.name,
        "memory_mib": pool.system.memory_mib,
        "gpus": pool.system.gpus,
        "nvswitch": pool.system.nvlink_domain_gpus > 1 and pool.system.nvlink_domain_servers == 1,
    }


def pool_ports(design: Design, pool: Pool) -> dict[str, object]:
    """InfiniBand and RoCE ports of a pool."""
    ports: dict[str, list[dict[str, object]]] = {"infiniband": [], "roce": [], "ethernet": []}
    carries_lustre = {s.fabric for s in lustres_of(design, pool.site)}
    for fabric in fabrics_of(design, pool.name):
        # InfiniBand needs addresses for LNet alone; RoCE cannot do without.
        addressed = bool(fabric.blocks) and (fabric.technology == "roce" or fabric.name in carries_lustre)
        ports[fabric.technology] += [_port(fabric, pool, rail, addressed) for rail in range(fabric.nics[pool.name].count)]
    for fabric in only_managed(design, pool.name):
        assert fabric.manager and fabric.manager.nic
        ports["infiniband"] += [_names(fabric, fabric.manager.nic, port) for port in range(fabric.manager.share)]
    return {"ib_ports": ports["infiniband"], "roce_ports": ports["roce"]}


def _names(fabric: Fabric, nic: HostNic, rail: int) -> dict[str, object]:
    names = (("rdma", nic.rdma_names), ("pci", nic.pci if fabric.technology == "infiniband" else ()), ("interface", nic.interfaces))
    return {"fabric": fabric.name, **{key: known[rail] for key, known in names if known}}


def _port(fabric: Fabric, pool: Pool, rail: int, addressed: bool) -> dict[str, object]:
    port = _names(fabric, fabric.nics[pool.name], rail)
    if addressed and fabric.subnet:
        port |= {"address": str(fabric.address(pool.name, 0, rail)), "prefix": ipaddress.IPv4Network(fabric.subnet).prefixlen}
    return port


def managed_fabrics(design: Design, site: str) -> dict[str, object]:
    """Fabrics for OpenSM, and the names of those that UFM manages."""
    fabrics = [facts for fabric in opensm_fabrics(design, site) for facts in _managed(design, fabric)]
    ufm = sorted(f.name for f in design.fabrics.values() if f.site == site and f.manager and f.manager.kind == "ufm")
    return {"fabrics": fabrics, "ufm": ufm} if fabrics or ufm else {}


def _managed(design: Design, fabric: Fabric) -> list[dict[str, object]]:
    """An entry for each subnet: of several also where its files lie and by which device and port its managers reach it."""
    manager = fabric.manager
    assert manager
    shares = len(infiniband_of(design, design.pool_of(manager.hosts[0]).name)) > 1
    if len(fabric.subnets) == 1:
        return [{"name": fabric.name, "managers": list(manager.hosts), "shares_hosts": shares}]
    out: list[dict[str, object]] = []
    for subnet in fabric.subnets:
        (at, *_) = bound(fabric, subnet)
        own = {"device": at.device, "port": at.port} if at.device else {}
        hosts = list(subnet.manager.hosts) if subnet.manager else []
        out.append({"name": subnet.name, "folder": f"{fabric.name}/{subnet.folder}", "managers": hosts, "shares_hosts": shares or manager.share > 1, **own})
    return out


def roce_classes(design: Design, site: str) -> dict[str, object]:
    """The lossless class of each RoCE fabric of a site."""
    classes = {
        f.name: {"dscp": f.qos.dscp, "priority": f.qos.priority, "cnp_dscp": f.qos.cnp_dscp, "cnp_priority": f.qos.cnp_priority}
        for f in sorted(design.fabrics.values(), key=lambda f: f.name)
        if f.site == site and f.qos
    }
    return {"classes": classes} if classes else {}


def lnet_networks(design: Design, pool: Pool) -> list[dict[str, object]]:
    """The LNet networks of a pool that serves or mounts Lustre: interfaces, and the type of service on a lossless class."""
    networks: dict[str, dict[str, object]] = {}
    for lustre in lustres_of(design, pool.site):
        fabric = design.fabrics[lustre.fabric]
        servers = {design.pool_of(host).name for host in (lustre.servers[0], lustre.metadata[0])}
        if pool.name in {*servers, *lustre.clients}:
            service = {"type_of_service": fabric.qos.traffic_class} if fabric.qos else {}
            networks[lustre.net] = {"net": lustre.net, "interfaces": list(fabric.nics[pool.name].interfaces), **service}
    return [networks[net] for net in sorted(networks)]


def client_mounts(design: Design, pool: Pool) -> list[dict[str, object]]:
    """What a pool mounts: management servers as failover partners, a colon between them (mount.lustre(8))."""
    return [
        {"fsname": s.fsname, "source": f"{':'.join(s.mgs_nids)}:/{s.fsname}", "mount": s.mount, "unit": mount_unit(s.mount)}
        for s in lustres_of(design, pool.site)
        if pool.name in s.clients
    ]


def slurm_here(design: Design, site: str) -> dict[str, object]:
    """The release that the Slurm files of the tree are written for."""
    return {"version": design.scheduler.version} if design.scheduler and pools_of(design, site) else {}
