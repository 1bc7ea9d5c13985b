"""A Lustre file system of the blueprint → Lustre: its network, its management servers, its clients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from ..blueprint.storage import Lustre as Wanted
from ..blueprint.storage import lustre_name
from .fabric.model import Fabric
from .model import Lustre, Pool


def lnet_networks(fabrics: Iterable[Fabric]) -> dict[str, str]:
    """Fabric that carries Lustre → its LNet network: ``o2ib``, ``o2ib1`` and so on at each site, ``tcp`` on plain Ethernet.

    A host on two networks of one name would take them for one. The first has no number, as Lustre prints number 0 (lnetctl(8)). Storage
    fabrics are counted first, so that a file system added on another fabric renames none.
    """
    out: dict[str, str] = {}
    used: dict[tuple[str, str], int] = {}
    for fabric in sorted({f.name: f for f in fabrics}.values(), key=lambda f: (f.purpose != "storage", f.name)):
        driver = "tcp" if fabric.technology == "ethernet" else "o2ib"
        number = used[fabric.site, driver] = used.get((fabric.site, driver), -1) + 1
        out[fabric.name] = f"{driver}{number or ''}"
    return out


def lustre(name: str, wanted: Wanted, pools: Mapping[str, Pool], fabric: Fabric, net: str, running: Set[str]) -> Lustre:
    """The designed file system; ``running`` are the pools of the partitions. Raises KeyError for metadata servers off the fabric."""
    metadata = pools[wanted.metadata]
    nids = tuple(f"{fabric.address(metadata.name, i)}@{net}" for i in range(min(2, metadata.count)))
    clients = {p for p in fabric.pools if pools[p].gpu or p in running} - {wanted.servers, wanted.metadata} if wanted.clients is None else set(wanted.clients)
    return Lustre(
        name, wanted.site, wanted.mount, lustre_name(name, wanted), pools[wanted.servers].hosts, metadata.hosts, wanted.fabric,
        wanted.capacity, wanted.read, wanted.write, net, nids, tuple(sorted(clients)), ("storage", name),
    )  # fmt: skip
