"""OpenSM's files for an InfiniBand fabric: what all its managers read alike."""

from __future__ import annotations

from ...design.fabric.model import Fabric
from ...design.fabric.sound import parts
from ...design.model import Design
from ...render import render, static_tree
from .addresses import computes, named_plan, top_tier

# Default prefix of InfiniBand; each further fabric counts up, and so do its subnets above so many bits: two are never taken for one.
_SUBNET_PREFIX = 0xFE80 << 48
_FABRIC_BITS = 16


def files(design: Design, fabric: Fabric) -> dict[str, str]:
    """``opensm.conf``, ``partitions.conf`` and the script that reads GUIDs off the fabric, of several subnets in a folder for each with
    the names of its plan. The role opensm installs these very files and adds what differs between two managers: their port and priority."""
    if len(fabric.subnets) == 1:
        return _files(design, fabric, prefixes(design, fabric)[0])
    made = {}
    for subnet, prefix in zip(fabric.subnets, prefixes(design, fabric), strict=True):
        own = _files(design, subnet, prefix) | {"plan.csv": named_plan(design, subnet)}
        made |= {f"{subnet.folder}/{name}": text for name, text in own.items()}
    return made


def prefixes(design: Design, fabric: Fabric) -> list[int]:
    """The subnet prefix of each subnet: its own in the whole cluster, and the same whatever else grows."""
    infiniband = sorted((f for f in design.fabrics.values() if f.technology == "infiniband"), key=lambda f: (f.purpose != "compute", f.name))
    first = _SUBNET_PREFIX + [f.name for f in infiniband].index(fabric.name)
    return [first + (number << _FABRIC_BITS) for number in range(parts(fabric))]


def _files(design: Design, subnet: Fabric, prefix: int) -> dict[str, str]:
    words = {
        "fabric": subnet.name,
        "prefix": f"0x{prefix:016x}",
        "engine": engine(subnet),
        "lanes": subnet.topology.startswith("dragonfly"),
        "roots": top_tier(subnet) is not None,
        "computes": bool(computes(design, subnet)),
        "order": _order(subnet),
    }
    fixed = static_tree("fabric/static")
    return {
        "opensm.conf": render("fabric/opensm.conf.j2", **words),
        "partitions.conf": fixed["partitions.conf"],
        "guids.sh": fixed["guids.sh"],
    }


def engine(fabric: Fabric) -> str:
    """OpenSM's routing engine. Hosts on one leaf are no tree, even below spines: ftree without a fallback never brings them up
    (opensm 3.3.23 on ibsim).
    minhop, sssp, updn and ftree have cycles on a dragonfly; dfsssp puts them on lanes of their own."""
    if fabric.topology.startswith("dragonfly"):
        return "dfsssp,no_fallback"
    leaves = sum(len(group.leaves) for group in fabric.groups if group.hosts)
    return "ftree,no_fallback" if fabric.spines and leaves > 1 else "minhop"


def _order(fabric: Fabric) -> str:
    """In which order ranks belong on the ports, a sentence for people; placement follows it by itself.

    Measured with opensm 3.3.23 on ibsim: on a full tree every shift of either order is free of contention, with nodes missing only
    that of the nodes; on a dragonfly the order of the leaves is the worst.
    """
    if fabric.topology.startswith("dragonfly"):
        return "Ranks that follow the order of the leaves meet on the links between groups; spread them."
    if fabric.trunks is None:
        return "One switch joins everything: any order of ranks will do."
    full = len({len(group.hosts) for group in fabric.groups}) == 1 and not fabric.reserved
    if full:
        return "All leaves are equally full: ranks in the order of leaves and ports, or node by node, meet on no link in any shift."
    return "Leaves are not equally full: ranks node by node, rail by rail; those in the order of the leaves meet on links."
