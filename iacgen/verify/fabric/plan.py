"""A planned InfiniBand fabric as a subnet manager sees it: adapters, switches, cables, roots, and the order of the ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from iacgen.design.fabric.model import Fabric

Family = Literal["tree", "dragonfly"]
GUID_STEP = 16  # ibsim gives port n of a node the GUID of the node plus n
_SWITCH_GUID = 0x0002C90000100000
_ADAPTER_GUID = 0x0002C90001000000
_MTU_4096 = 5  # InfiniBand Architecture Specification, volume 1, PortInfo: MTU codes


class Link(NamedTuple):
    """One cable between two link ports, counted from 1; ``a`` is the end nearer to the hosts. An adapter has one port, number 1."""

    a: str
    a_port: int
    b: str
    b_port: int


@dataclass(frozen=True)
class Plan:
    """Adapters are named ``host device`` and the manager's comes first: there the manager and every tool attach.

    ``keys`` gives the P_Keys that an adapter must have, the one at index 0 first, where that is not the default partition alone as a full
    member; ``mtu`` is the code of the MTU that the default partition's multicast group must have, None for any.
    ``tiers`` are the switches by rank, leaves first; the routers of a dragonfly are all leaves. ``ports`` gives the ports of
    each, ``host_gbps`` and
    ``trunk_gbps`` the speed of the slowest link of an adapter and between switches. ``shares_links``: the blueprint asks for fewer
    cores or an uneven split of uplinks, on which flows meet. ``order`` lists the adapters that carry ranks, in the order of the ranks; a manager's own are not in it.
    """

    adapters: tuple[str, ...]
    tiers: tuple[tuple[str, ...], ...]
    ports: Mapping[str, int]
    links: tuple[Link, ...]
    order: tuple[str, ...]
    family: Family = "tree"
    keys: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    mtu: int | None = None
    host_gbps: int = 400
    trunk_gbps: int = 400
    shares_links: bool = False

    def with_links(self, links: tuple[Link, ...]) -> Plan:
        """The same devices, otherwise cabled."""
        return replace(self, links=links)

    @cached_property
    def switches(self) -> tuple[str, ...]:
        """All switches, leaves first."""
        return tuple(name for tier in self.tiers for name in tier)

    @property
    def leaves(self) -> tuple[str, ...]:
        return self.tiers[0]

    @property
    def roots(self) -> tuple[str, ...]:
        """The top of a tree; a dragonfly has none."""
        return self.tiers[-1] if self.family == "tree" else ()

    @property
    def engine(self) -> str:
        """The routing engine that it is planned with: ftree on a tree, where its adapters are on several leaves, minhop on one leaf; dfsssp on a
        dragonfly, where the others have cycles (opensm 3.3.23 on ibsim)."""
        if self.family == "dragonfly":
            return "dfsssp"
        return "ftree" if len(self.tiers) > 1 and len(self.taken) > 1 else "minhop"

    @cached_property
    def guids(self) -> dict[str, int]:
        """Node GUID of each switch and adapter, made up: real ones are known only where the hardware stands."""
        made = {name: _SWITCH_GUID + GUID_STEP * i for i, name in enumerate(self.switches)}
        return made | {name: _ADAPTER_GUID + GUID_STEP * i for i, name in enumerate(self.adapters)}

    def port_guid(self, adapter: str) -> int:
        """GUID of the one port of an adapter."""
        return self.guids[adapter] + 1

    @cached_property
    def leaf_of(self) -> dict[str, str]:
        """Adapter → the switch that it is cabled to."""
        return {link.a: link.b for link in self.links if link.a not in self.ports}

    @cached_property
    def taken(self) -> Counter[str]:
        """Leaf → how many adapters are on it."""
        return Counter(self.leaf_of.values())

    @cached_property
    def ranked(self) -> Counter[str]:
        """Leaf → how many adapters of ``order`` are on it."""
        return Counter(self.leaf_of[adapter] for adapter in self.order)

    @cached_property
    def one_unit(self) -> bool:
        """Whether every host has one port on each leaf: a single unit of a rail-optimised fabric."""
        hosts: dict[str, list[str]] = {leaf: [] for leaf in self.leaves}
        for adapter in self.order:
            hosts[self.leaf_of[adapter]].append(adapter.split(" ")[0])
        first = sorted(hosts[self.leaves[0]])
        return len(self.leaves) > 1 and len(set(first)) == len(first) > 0 and all(sorted(of) == first for of in hosts.values())

    @cached_property
    def uplinks(self) -> Counter[str]:
        """Switch → its links to the tier above; of a dragonfly's router, to any other."""
        up = Counter(link.a for link in self.links if link.a in self.ports)
        return up if self.family == "tree" else up + Counter(link.b for link in self.links if link.a in self.ports)

    @cached_property
    def above(self) -> Counter[str]:
        """Switch of a tree → the switches of the tier above that it is joined to."""
        return Counter(a for a, _ in {(link.a, link.b) for link in self.links if link.a in self.ports})


def of_fabric(fabric: Fabric, ranked: Sequence[str] = ()) -> Plan:
    """The plan of a designed fabric whose ranks lie on the hosts of ``ranked``, in that order; by default on all, in theirs.

    Ranks are node-major: the adapters of a host stand together, rail by rail, as the GPUs of a node do.
    """
    links: list[Link] = []
    ports_of: dict[str, list[str]] = {}
    slowest: dict[str, int] = {}
    speeds: set[tuple[bool, int]] = set()
    own = [f"{cable.a} {cable.a_port}" for cable in fabric.wiring() if cable.joins == "manager-leaf"]
    for cable in fabric.wiring():
        down = cable.joins in ("host-leaf", "manager-leaf")
        links.append(Link(f"{cable.a} {cable.a_port}" if down else cable.a, 1 if down else int(cable.a_port), cable.b, int(cable.b_port)))
        for switch in (cable.b,) if down else (cable.a, cable.b):
            slowest[switch] = min(cable.gbps, slowest.get(switch, cable.gbps))
        if cable.joins != "manager-leaf":
            speeds.add((down, cable.gbps))
        if cable.joins == "host-leaf":
            ports_of.setdefault(cable.a, []).append(links[-1].a)
    of_manager = [adapter for host in (fabric.manager.hosts if fabric.manager else ()) for adapter in ports_of.get(host, ())]
    return Plan(
        tuple(dict.fromkeys((*own, *of_manager, *(adapter for some in ports_of.values() for adapter in some)))),
        tuple(tier.names for tier in fabric.tiers),
        {name: tier.switch.ports(slowest[name]) if name in slowest else 0 for tier in fabric.tiers for name in tier.names},
        tuple(links),
        tuple(adapter for host in ranked or ports_of for adapter in ports_of.get(host, ())),
        "dragonfly" if fabric.topology.startswith("dragonfly") else "tree",
        mtu=_MTU_4096,
        host_gbps=min(gbps for down, gbps in speeds if down),
        trunk_gbps=min((gbps for down, gbps in speeds if not down), default=min(gbps for _, gbps in speeds)),
        shares_links=any(getattr(fabric.trunks, choice, False) for choice in ("dealt_cores", "rotating")),
    )
