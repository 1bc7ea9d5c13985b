"""What stands beside a drawing: the title, a line on each tier, a line on what joins two of them."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable

import numpy as np

from iacgen.design.fabric.model import Array, Fabric, Joins, pool_of

from .lots import counted
from .view import HOST_ENDS, Bundle, View

TOPOLOGY = {
    "rail-fat-tree": "rail-optimised fat-tree",
    "fat-tree": "fat-tree",
    "rail-only": "rail-only",
    "dragonfly": "dragonfly",
    "dragonfly-plus": "dragonfly+",
}
TECHNOLOGY = {"infiniband": "InfiniBand", "roce": "RoCE", "ethernet": "Ethernet", "efa": "EFA"}
ROUTERS = "Routers"
TIER = {"leaf": "Leaves", "spine": "Spines", "core": "Cores", "host": "Hosts"}

Lines = tuple[tuple[str, str], ...]  # text and kind of each


def headline(fabric: Fabric) -> str:
    """The name and the kind of a fabric."""
    return f"{fabric.name}: {TOPOLOGY[fabric.topology]}, {TECHNOLOGY[fabric.technology]}"


def figures(fabric: Fabric) -> str:
    """Its counts in a sentence."""
    counts = [counted(len(fabric.hosts), "host")]
    counts += [counted(len(tier.names), f"{tier.kind} switch") for tier in fabric.tiers]
    cables = fabric.cables
    words = [f"{cables.host:,} host", *([f"{cables.manager:,} manager"] if cables.manager else []), *([f"{cables.between_switches:,} switch to switch"] if cables.between_switches else [])]
    counts.append(f"cables: {' + '.join(words)}")
    if fabric.planes > 1:
        counts.append(f"{fabric.planes} planes")
    if fabric.trunks:
        over = fabric.oversubscription
        counts.append("not oversubscribed" if over <= 1 else f"oversubscribed {over:.2f} : 1")
    return " · ".join(counts)


def tier(view: View, kind: str) -> Lines:
    """Head, count and model, ports in use of a tier of switches."""
    fabric = view.fabric
    found = next(t for t in fabric.tiers if t.kind == kind)
    members = {"leaf": view.all_leaves, "spine": view.spines, "core": view.cores}[kind]
    told = (f"{len(members):,} × {found.switch.name}", _ports(view, list(members)))
    return ((TIER[kind] if not view.local else ROUTERS, "strong"), *((line, "quiet") for text in told for line in _wrapped(text)))


def hosts(view: View) -> Lines:
    """Head and count of the hosts, the ports of one."""
    fabric = view.fabric
    pools = {pool_of(host) for host in fabric.hosts}
    planes = f"{fabric.planes} × " if fabric.planes > 1 else ""
    own = [f"{pool}: {1 if view.rail is not None else fabric.nics[pool].count} × {planes}{fabric.link_gbps[pool]}G" for pool in fabric.pools if pool in pools]
    reached = sum(run.count for run in fabric.attached)
    own += [f"{reached:,} switches: 1 × 1G"] if reached else []
    return ((f"{len(fabric.hosts):,} hosts" if len(fabric.hosts) != 1 else "1 host", "strong"), *((line, "quiet") for text in own[:6] for line in _wrapped(text)))


def _ports(view: View, members: list[int]) -> str:
    """Ports in use on the fullest and the emptiest of these switches, by where they lead."""
    ports: dict[str, Array] = {word: np.zeros(view.fabric.switches, dtype=np.int64) for word in ("down", "up", "to its group", "to other groups")}
    for links in view.links:
        sideways = {"leaf-leaf": "to its group", "group-group": "to other groups"}.get(links.joins)
        np.add.at(ports[sideways or "down"], links.b, 1)
        if links.joins not in HOST_ENDS:
            np.add.at(ports[sideways or "up"], links.a, 1)
    parts = [f"{between(counts[members])} {word}" for word, counts in ports.items() if counts[members].any()]
    return f"ports: {', '.join(parts)}" if parts else ""


def between(counts: Array) -> str:
    """The least and the most of some counts."""
    low, high = int(counts.min()), int(counts.max())
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def joined(bundles: Iterable[Bundle], joins: tuple[Joins, ...]) -> Lines:
    """How many links lie between two tiers, and how many a drawn line stands for."""
    mine = [b for b in bundles if b.joins in joins]
    if not mine:
        return ()
    by_speed: Counter[int] = Counter()
    for b in mine:
        by_speed.update(dict(b.by_gbps))
    out = [(f"{n:,} × {gbps}G", "quiet") for gbps, n in sorted(by_speed.items())]
    each = np.array([b.links for b in mine])
    return (*out[:3], (f"each line: {between(each)} {'link' if each.max() == 1 else 'links'}", "quiet"))


def _wrapped(text: str, width: int = 29) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=True) or []
