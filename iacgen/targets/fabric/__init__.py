"""``fabric/<name>/`` for every fabric whose switches are ours: cables, ports, what to buy, addresses, the files of its managers and switches."""

from __future__ import annotations

from collections.abc import Iterator

from ...design.fabric.model import Fabric
from ...design.fabric.subnets import bound
from ...design.model import Design
from ...drawings import drawings
from ...placement.project import Project
from ...render import render as render_template
from . import cumulus, sonic, subnet_manager
from .addresses import named_plan, routed_plan, routes
from .bill import bill
from .lists import adapter_map, adapter_numbers, cables, netbox, point_to_point, ports
from .neighbours import routers
from .topology import speaks_dot, topology
from .wired import Wired, wired

__all__ = ["render"]

# File, or the folder of files → who reads it. Each has a place here, or the page of the fabric has no words for it.
READERS = {
    "cables.csv": "UFM Cable Validation Tool, as its P2P file: what is cabled, against this",
    "hca-map.csv": "the same, as its map of adapters: the numbers of hosts' ports in cables.csv",
    "topology.dot": "UFM Cable Validation Tool, and Cumulus itself (/etc/ptm.d/topology.dot): what LLDP should tell",
    "p2p.csv": "people: both ends of every cable with row, place, rack, unit, cage and port, its label, medium, part number and length",
    "netbox-cables.csv": "NetBox, import of cables: devices and interfaces must be there",
    "ports.csv": "people and inventories: every port of every switch, used, free or reserved",
    "bill-of-materials.csv": "who buys: switches, cables, transceivers by used cage, spares",
    "plan.csv": "people, and guids.sh where there is one: the address or the name of every device",
    "opensm.conf": "OpenSM; the role opensm installs it, with the port and the priority of each manager",
    "partitions.conf": "OpenSM; the role opensm installs it",
    "ranks.txt": "who starts programs that are not planned here: all hosts, mixed over the groups of the dragonfly; a planned job has an order of its own",
    "guids.sh": "sh, on a manager: GUIDs for OpenSM by the names of plan.csv",
    "switches": "the switches",
    "fabric.svg": "people: a drawing by tiers",
    "rail.svg": "people: a drawing of one rail",
}


def render(project: Project) -> dict[str, str]:
    """Path → text for every fabric with switches of a hall that is there."""
    tree: dict[str, str] = {}
    for fabric in sorted(project.design.fabrics.values(), key=lambda f: f.name):
        if fabric.tiers:
            tree |= {f"fabric/{fabric.name}/{path}": text for path, text in _files(project.design, fabric)}
    return tree


def _files(design: Design, fabric: Fabric) -> Iterator[tuple[str, str]]:
    made = dict(_made(design, fabric))
    drawn = {drawing.path.rpartition("/")[2] for drawing in drawings(design) if drawing.path.startswith(f"fabric/{fabric.name}/")}
    names = {path.partition("/")[0] for path in made} - {subnet.folder for subnet in fabric.subnets}
    yield "README.md", _page(design, fabric, sorted(names | drawn))
    yield from made.items()


def _made(design: Design, fabric: Fabric) -> Iterator[tuple[str, str]]:
    expanded = wired(fabric, design.facilities[fabric.site])
    numbers = adapter_numbers(fabric, expanded.wires)
    yield "cables.csv", cables(expanded, numbers)
    yield "p2p.csv", point_to_point(expanded)
    yield "netbox-cables.csv", netbox(expanded)
    yield "ports.csv", ports(expanded)
    yield "bill-of-materials.csv", bill(expanded)
    if fabric.topology.startswith("dragonfly"):
        yield "ranks.txt", "".join(f"{host}\n" for host in fabric.rank_order)
    if fabric.technology == "infiniband":
        yield "hca-map.csv", adapter_map(numbers)
        yield "plan.csv", named_plan(design, fabric)
        if fabric.manager and fabric.manager.kind == "opensm":
            yield from subnet_manager.files(design, fabric).items()
    else:
        yield "plan.csv", routed_plan(design, fabric)
    if speaks_dot(fabric):
        yield "topology.dot", topology(expanded)
    if fabric.qos:
        yield from _switches(fabric, expanded)


def _switches(fabric: Fabric, expanded: Wired) -> Iterator[tuple[str, str]]:
    """Few lines that all have alike, and a file for each switch: a reviewer reads only what changed."""
    assert fabric.qos
    if fabric.os == "sonic":
        yield "switches/common.json", sonic.common(fabric, routes(fabric))
        yield from ((f"switches/{router.name}.json", sonic.switch(router, fabric.qos)) for router in routers(expanded))
    else:
        yield "switches/common.yaml", cumulus.common(fabric, routes(fabric))
        yield from ((f"switches/{router.name}.yaml", cumulus.switch(router)) for router in routers(expanded))


def _subnets(design: Design, fabric: Fabric) -> list[dict[str, str]]:
    """Of a fabric in several subnets, for people: where the files of each lie, who runs it, and by which ports."""
    if len(fabric.subnets) == 1:
        return []
    numbers = subnet_manager.prefixes(design, fabric)
    return [
        {"name": subnet.name, "folder": subnet.folder, "prefix": f"0x{prefix:016x}", "managers": ", ".join(subnet.manager.hosts if subnet.manager else ()), "ports": ", ".join(_port(*at) for at in bound(fabric, subnet))}
        for subnet, prefix in zip(fabric.subnets, numbers, strict=True)
    ]


def _port(device: str | None, port: int) -> str:
    return f"{device or 'the port in it'}{f' port {port}' if port > 1 else ''}"


def _page(design: Design, fabric: Fabric, names: list[str]) -> str:
    site = f"ansible/{fabric.site}"
    role = {"roce": "roce_host", "infiniband": "ib_host"}.get(fabric.technology, "")
    words = {
        "name": fabric.name,
        "files": [(name, READERS[name]) for name in names],
        "technology": fabric.technology,
        "system": fabric.os,
        "opensm": fabric.manager is not None and fabric.manager.kind == "opensm",
        "subnets": _subnets(design, fabric) if fabric.technology == "infiniband" else [],
        "role": f"{site}/roles/{role}" if role else None,
        "inventory": f"{site}/inventory",
        "hwskus": sorted({(tier.switch.name, sku) for tier in fabric.tiers if fabric.os == "sonic" and tier.switch.sonic for sku in tier.switch.sonic.hwsku.values()}),
    }
    return render_template("fabric/README.md.j2", **words)
